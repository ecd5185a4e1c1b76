"""The person's calendar, and when they and others are free."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from typing import Any

from workers.workspace import plain_text
from workers.workspace.failures import Unusable
from workers.workspace.google import READ_EVENTS, READ_FREE_TIME, Api, Google

_MAX_EVENTS = 50
_MAX_DAYS = 60
Span = tuple[datetime, datetime]


class Calendar:
    """The readable part of the calendar. `zone` is the person's time zone."""

    def __init__(self, google: Google, zone: tzinfo) -> None:
        self._google, self._zone = google, zone

    def list_events(self, start: str, end: str, words: str = "") -> dict[str, Any]:
        """List the events in the person's calendar.

        Args:
            start: date and time in ISO 8601; in the person's time zone unless it names an offset.
            end: the same.
            words: only events with these words.
        """
        first, last = span(start, end, self._zone)
        parameters: dict[str, Any] = {
            "timeMin": first.isoformat(),
            "timeMax": last.isoformat(),
            "singleEvents": "true",
            "orderBy": "startTime",
            "maxResults": _MAX_EVENTS,
        }
        if words:
            parameters["q"] = plain_text.line(words)
        found = self._google.get(Api.CALENDAR, "/calendars/primary/events", scope=READ_EVENTS, **parameters)
        events = [_shown(event) for event in found.get("items", ()) if event.get("status") != "cancelled"]
        return {"events": events, "there_are_more": "nextPageToken" in found}

    def find_free_time(
        self, start: str, end: str, minutes: int = 30, people: list[str] | None = None
    ) -> dict[str, Any]:
        """Find when the person, and others if named, are all free.

        Args:
            start: date and time in ISO 8601; in the person's time zone unless it names an offset.
            end: the same.
            minutes: the least length.
            people: mail addresses of others.
        """
        first, last = span(start, end, self._zone)
        ids = ["primary", *plain_text.addresses(people or [])]
        query = {"timeMin": first.isoformat(), "timeMax": last.isoformat(), "items": [{"id": each} for each in ids]}
        calendars = self._google.query(Api.CALENDAR, "/freeBusy", query, scope=READ_FREE_TIME).get("calendars", {})
        busy = [
            (moment(each["start"], self._zone), moment(each["end"], self._zone))
            for calendar in calendars.values()
            for each in calendar.get("busy", ())
        ]
        least = timedelta(minutes=max(1, int(minutes)))
        free = [(start, end) for start, end in _between(first, last, busy) if end - start >= least]
        return {
            "free": [[start.isoformat(), end.isoformat()] for start, end in free],
            "not_known_of": [each for each in ids if calendars.get(each, {"errors": 1}).get("errors")],
        }


def moment(text: object, zone: tzinfo) -> datetime:
    """Return a date and time, in `zone` unless it has an offset. Raise Unusable."""
    try:
        read = datetime.fromisoformat(str(text).strip())
    except ValueError:
        raise Unusable(f"{plain_text.line(text, most=10_000)[:60]!r} is no date and time in ISO 8601.") from None
    return (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(zone)


def span(start: object, end: object, zone: tzinfo) -> Span:
    """Return the start and end of a period. Raise Unusable."""
    first, last = moment(start, zone), moment(end, zone)
    if not first < last <= first + timedelta(days=_MAX_DAYS):
        raise Unusable(f"The end has to be after the start, and at most {_MAX_DAYS} days later.")
    return first, last


def _between(first: datetime, last: datetime, busy: Iterable[Span]) -> Iterator[Span]:
    free_from = first
    for start, end in sorted(busy):
        if start > free_from:
            yield free_from, min(start, last)
        free_from = max(free_from, end)
        if free_from >= last:
            return
    yield free_from, last


def _shown(event: dict[str, Any]) -> dict[str, Any]:
    def at(edge: str) -> Any:
        when = event.get(edge, {})
        return when.get("dateTime") or when.get("date")

    return {
        "title": event.get("summary", ""),
        "start": at("start"),
        "end": at("end"),
        "place": event.get("location", ""),
        "description": str(event.get("description", ""))[:1000],
        "guests": [guest.get("email") for guest in event.get("attendees", ())][:50],
        "organizer": event.get("organizer", {}).get("email"),
    }
