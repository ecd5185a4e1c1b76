"""The actions that affect others. Each is carried out only as the person read and confirmed it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, tzinfo
from typing import Any, Self

from workers.workspace import plain_text
from workers.workspace.calendar import span
from workers.workspace.drive import identifier
from workers.workspace.failures import Unusable

MAX_CHARACTERS = 10_000
Fields = Mapping[str, str]


class _Action:
    """Base of the actions. `of` takes the arguments of a model, and what `fields` gives."""

    def fields(self) -> Fields:
        """Return the action by field names; absent fields are empty."""
        return {each.name: _shown(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Mail(_Action):
    """A mail in plain text."""

    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    text: str

    @classmethod
    def of(cls, *, to: object, subject: object, text: object, cc: object = ()) -> Self:
        """Return the action. Raise Unusable."""
        mail = cls(
            plain_text.addresses(to),
            plain_text.addresses(cc),
            plain_text.line(subject),
            plain_text.text(text, most=MAX_CHARACTERS),
        )
        if not mail.to or not mail.subject or not mail.text:
            raise Unusable("A mail needs a recipient, a subject and a text.")
        return mail


@dataclass(frozen=True)
class Event(_Action):
    """An event in the person's calendar, to which others may be invited."""

    title: str
    start: datetime
    end: datetime
    guests: tuple[str, ...]
    place: str
    text: str

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
        text: object = "",
    ) -> Self:
        """Return the action; `zone` is that of times without an offset. Raise Unusable."""
        first, last = span(start, end, zone)
        event = cls(
            plain_text.line(title),
            first.replace(second=0, microsecond=0),
            last.replace(second=0, microsecond=0),
            plain_text.addresses(guests),
            plain_text.line(place),
            plain_text.text(text, most=MAX_CHARACTERS),
        )
        if not event.title:
            raise Unusable("An event needs a title.")
        return event


@dataclass(frozen=True)
class Addition(_Action):
    """A text at the end of a document, which has this title."""

    document: str
    id: str
    text: str

    @classmethod
    def of(cls, *, document: object, id: object, text: object) -> Self:
        """Return the action. Raise Unusable, GoogleFailed."""
        added = plain_text.text(text, most=MAX_CHARACTERS)
        if not added:
            raise Unusable("There is no text to be added.")
        return cls(plain_text.line(document, most=1000), identifier(id), added)


Action = Mail | Event | Addition
KINDS: Mapping[str, type[Action]] = {"mail": Mail, "calendar": Event, "docs": Addition}
"""The actions by kind, as the operator allows them (`--may-write`)."""


def kind_of(action: Action) -> str:
    """Return the action's name in KINDS."""
    return next(name for name, kind in KINDS.items() if isinstance(action, kind))


def read(kind: str, given: Fields, zone: tzinfo) -> Action:
    """Return the action of this kind from its fields. Raise Unusable, GoogleFailed."""
    action = KINDS[kind]
    arguments: dict[str, Any] = {each.name: given.get(each.name, "") for each in fields(action)}
    return action.of(**arguments, **({"zone": zone} if action is Event else {}))


def _shown(value: Any) -> str:
    match value:
        case tuple():
            return ", ".join(value)
        case datetime():
            return value.isoformat(" ", "minutes")
    return str(value)
