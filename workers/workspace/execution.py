"""Carry out a confirmed action exactly once: after a worker's death, the next one checks first if it is done."""

import re
from collections.abc import Callable, Sequence

from workers.workspace import gmail
from workers.workspace.actions import Action, Addition, Event, Mail, kind_of
from workers.workspace.conversation import DONE
from workers.workspace.failures import Cause, GoogleFailed
from workers.workspace.google import READ_MAIL, WRITE_DOCUMENTS, WRITE_EVENTS, WRITE_MAIL, Api, Google, retried
from workers.workspace.texts import Language, texts_in

Report = Callable[[str], None]


class DraftMissing(Exception):
    """The person has deleted the draft; nothing was sent."""


class ActionExecutor:
    """The executor of confirmed actions. `report` returns once the text is in the task's history, or raises without a lease."""

    def __init__(self, google: Google, report: Report, language: Language, *, first_wait_seconds: float = 0.5) -> None:
        self._google, self._report, self._texts = google, report, texts_in(language)
        self._first_wait_seconds = first_wait_seconds
        self._draft: tuple[str, str] | None = None

    def carry_out(self, action: Action, *, key: str, steps: Sequence[str]) -> str:
        """Carry out the action and return one line about it. `steps` are earlier reports. Raise GoogleFailed, DraftMissing."""
        done = self._texts.done[kind_of(action)].format(**action.fields())
        if DONE + done in steps:
            return done
        self._draft = self._known_draft(steps)
        retried(lambda: self._once(action, key), first_wait_seconds=self._first_wait_seconds)
        return done

    def _once(self, action: Action, key: str) -> None:
        match action:
            case Mail():
                self._send(action)
            case Event():
                self.create_event(action, key=key)
            case Addition():
                self._add(action)

    def create_event(self, event: Event, *, key: str) -> None:
        """Create the event and invite its guests, unless it exists. `key` is unique to the event."""
        value = {
            # A fixed id (a-v and 0-9) makes a second event impossible.
            "id": "a2a" + key[:40],
            "summary": event.title,
            "start": {"dateTime": event.start.isoformat()},
            "end": {"dateTime": event.end.isoformat()},
            "location": event.place,
            "description": event.text,
            "attendees": [{"email": guest} for guest in event.guests],
        }
        try:
            self._google.write(Api.CALENDAR, "/calendars/primary/events", value, scope=WRITE_EVENTS, sendUpdates="all")
        except GoogleFailed as failed:
            if failed.cause is not Cause.CONFLICT:
                raise

    def _send(self, mail: Mail) -> None:
        """Send a draft, which is possible once; its id is in the task's history before that."""
        raw = gmail.encoded_mail(mail)
        if self._draft is None:
            made = self._google.write(Api.GMAIL, "/drafts", {"message": {"raw": raw}}, scope=WRITE_MAIL)
            draft, thread = str(made["id"]), str(made["message"]["threadId"])
            self._report(self._texts.mail_ready.format(draft=draft, thread=thread))
            # The last report is the task's status; this one moves the line above into the history.
            self._report(self._texts.sending)
            self._draft = draft, thread
        draft, thread = self._draft
        try:
            self._google.write(Api.GMAIL, "/drafts/send", {"id": draft, "message": {"raw": raw}}, scope=WRITE_MAIL)
        except GoogleFailed as failed:
            if failed.cause is not Cause.NOT_FOUND:
                raise
            if not self._was_sent(thread):
                raise DraftMissing from None

    def _known_draft(self, steps: Sequence[str]) -> tuple[str, str] | None:
        pattern = (
            re.escape(self._texts.mail_ready).replace(r"\{draft\}", "([^ ,、]+)").replace(r"\{thread\}", "([^ )）]+)")
        )
        found = [match for step in steps if (match := re.fullmatch(pattern, step))]
        return (found[-1][1], found[-1][2]) if found else None

    def _was_sent(self, thread: str) -> bool:
        try:
            found = self._google.get(Api.GMAIL, f"/threads/{thread}", scope=READ_MAIL, format="minimal")
        except GoogleFailed as failed:
            if failed.cause is Cause.NOT_FOUND:
                return False
            raise
        return any("SENT" in message.get("labelIds", ()) for message in found.get("messages", ()))

    def _add(self, addition: Addition) -> None:
        """Append the text to the document, unless it ends with it already."""
        path = f"/documents/{addition.id}"
        for is_last in (False, True):
            document = self._google.get(Api.DOCS, path, scope=WRITE_DOCUMENTS)
            ending = ending_of(document)
            if ending.endswith(addition.text):
                return
            text = ("\n" if ending else "") + addition.text
            insert = {"insertText": {"text": text, "endOfSegmentLocation": {}}}
            # Refused (400) if the document has changed since, perhaps by this worker's predecessor.
            control = {"requiredRevisionId": document.get("revisionId")}
            try:
                value = {"requests": [insert], "writeControl": control}
                self._google.write(Api.DOCS, f"{path}:batchUpdate", value, scope=WRITE_DOCUMENTS)
                return
            except GoogleFailed as failed:
                if failed.cause is not Cause.INVALID or is_last:
                    raise


def ending_of(document: dict[str, object]) -> str:
    """Return a document's text, without Google's final line end."""
    body = document.get("body")
    content = body.get("content", ()) if isinstance(body, dict) else ()
    runs = [
        element.get("textRun", {}).get("content", "")
        for block in content
        for element in block.get("paragraph", {}).get("elements", ())
    ]
    return "".join(runs).rstrip("\n")
