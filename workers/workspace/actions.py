"""What changes something for others. Each is done only as the person read it, and said yes to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Self

from workers.workspace import plain
from workers.workspace.calendar import span
from workers.workspace.drive import identifier
from workers.workspace.failures import Unusable

MOST_CHARACTERS = 10_000
Fields = Mapping[str, str]


@dataclass(frozen=True)
class Mail:
    """A mail in plain text."""

    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    body: str

    @classmethod
    def of(cls, *, to: object, subject: object, body: object, cc: object = ()) -> Self:
        """From what a model gave. Raises Unusable."""
        mail = cls(
            plain.addresses(to),
            plain.addresses(cc),
            plain.line(subject),
            plain.text(body, most=MOST_CHARACTERS),
        )
        if not mail.to or not mail.subject or not mail.body:
            raise Unusable("A mail needs a recipient, a subject and a text.")
        return mail

    def fields(self) -> Fields:
        """What it is, by names; what is left out is empty."""
        return {"to": _listed(self.to), "cc": _listed(self.cc), "subject": self.subject, "text": self.body}

    @classmethod
    def read(cls, fields: Fields, _zone: tzinfo) -> Self:
        """From `fields`. Raises Unusable."""
        return cls.of(to=fields["to"], cc=fields["cc"], subject=fields["subject"], body=fields["text"])


@dataclass(frozen=True)
class Event:
    """An event in the person's calendar, to which others may be invited."""

    title: str
    start: datetime
    end: datetime
    guests: tuple[str, ...]
    place: str
    description: str

    @classmethod
    def of(
        cls,
        *,
        title: object,
        start: object,
        end: object,
        zone: tzinfo,
        guests: object = (),
        place: object = "",
        description: object = "",
    ) -> Self:
        """From what a model gave. Raises Unusable."""
        first, last = span(start, end, zone)
        event = cls(
            plain.line(title),
            first.replace(second=0, microsecond=0),
            last.replace(second=0, microsecond=0),
            plain.addresses(guests),
            plain.line(place),
            plain.text(description, most=MOST_CHARACTERS),
        )
        if not event.title:
            raise Unusable("An event needs a title.")
        return event

    def fields(self) -> Fields:
        """What it is, by names; what is left out is empty."""
        return {
            "title": self.title,
            "start": _time(self.start),
            "end": _time(self.end),
            "guests": _listed(self.guests),
            "place": self.place,
            "text": self.description,
        }

    @classmethod
    def read(cls, fields: Fields, zone: tzinfo) -> Self:
        """From `fields`. Raises Unusable."""
        given = {name: fields[name] for name in ("title", "start", "end", "guests", "place")}
        return cls.of(**given, description=fields["text"], zone=zone)


@dataclass(frozen=True)
class Addition:
    """A text at the end of a document."""

    document_id: str
    title: str
    text: str

    @classmethod
    def of(cls, *, document_id: object, title: object, text: object) -> Self:
        """From what a model gave, and the title that Google told. Raises Unusable, GoogleFailed."""
        added = plain.text(text, most=MOST_CHARACTERS)
        if not added:
            raise Unusable("There is no text to be added.")
        return cls(identifier(document_id), plain.line(title, most=1000), added)

    def fields(self) -> Fields:
        """What it is, by names."""
        return {"document": self.title, "id": self.document_id, "text": self.text}

    @classmethod
    def read(cls, fields: Fields, _zone: tzinfo) -> Self:
        """From `fields`. Raises Unusable, GoogleFailed."""
        return cls.of(document_id=fields["id"], title=fields["document"], text=fields["text"])


Action = Mail | Event | Addition
KINDS: Mapping[str, type[Action]] = {"mail": Mail, "calendar": Event, "docs": Addition}
"""The actions, by what the operator allows (`--may-write`)."""


def kind_of(action: Action) -> str:
    """Its name in KINDS."""
    return next(name for name, kind in KINDS.items() if isinstance(action, kind))


def _listed(addresses: Sequence[str]) -> str:
    return ", ".join(addresses)


def _time(when: datetime) -> str:
    return when.isoformat(" ", "minutes")
