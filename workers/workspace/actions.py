"""The actions that affect others. Each is carried out only as the person read and confirmed it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Self

from workers.workspace import plain_text
from workers.workspace.calendar import span
from workers.workspace.drive import identifier
from workers.workspace.failures import Unusable

MAX_CHARACTERS = 10_000
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
        """Return the action from a model's arguments. Raise Unusable."""
        mail = cls(
            plain_text.addresses(to),
            plain_text.addresses(cc),
            plain_text.line(subject),
            plain_text.text(body, most=MAX_CHARACTERS),
        )
        if not mail.to or not mail.subject or not mail.body:
            raise Unusable("A mail needs a recipient, a subject and a text.")
        return mail

    def fields(self) -> Fields:
        """Return the action by field names; absent fields are empty."""
        return {"to": ", ".join(self.to), "cc": ", ".join(self.cc), "subject": self.subject, "text": self.body}

    @classmethod
    def read(cls, fields: Fields, _zone: tzinfo) -> Self:
        """Return the action from its `fields`. Raise Unusable."""
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
        """Return the action from a model's arguments. Raise Unusable."""
        first, last = span(start, end, zone)
        event = cls(
            plain_text.line(title),
            first.replace(second=0, microsecond=0),
            last.replace(second=0, microsecond=0),
            plain_text.addresses(guests),
            plain_text.line(place),
            plain_text.text(description, most=MAX_CHARACTERS),
        )
        if not event.title:
            raise Unusable("An event needs a title.")
        return event

    def fields(self) -> Fields:
        """Return the action by field names; absent fields are empty."""
        return {
            "title": self.title,
            "start": _time(self.start),
            "end": _time(self.end),
            "guests": ", ".join(self.guests),
            "place": self.place,
            "text": self.description,
        }

    @classmethod
    def read(cls, fields: Fields, zone: tzinfo) -> Self:
        """Return the action from its `fields`. Raise Unusable."""
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
        """Return the action from a model's arguments and the document's title. Raise Unusable, GoogleFailed."""
        added = plain_text.text(text, most=MAX_CHARACTERS)
        if not added:
            raise Unusable("There is no text to be added.")
        return cls(identifier(document_id), plain_text.line(title, most=1000), added)

    def fields(self) -> Fields:
        """Return the action by field names."""
        return {"document": self.title, "id": self.document_id, "text": self.text}

    @classmethod
    def read(cls, fields: Fields, _zone: tzinfo) -> Self:
        """Return the action from its `fields`. Raise Unusable, GoogleFailed."""
        return cls.of(document_id=fields["id"], title=fields["document"], text=fields["text"])


Action = Mail | Event | Addition
KINDS: Mapping[str, type[Action]] = {"mail": Mail, "calendar": Event, "docs": Addition}
"""The actions by kind, as the operator allows them (`--may-write`)."""


def kind_of(action: Action) -> str:
    """Return the action's name in KINDS."""
    return next(name for name, kind in KINDS.items() if isinstance(action, kind))


def _time(when: datetime) -> str:
    return when.isoformat(" ", "minutes")
