"""The model's tools for one task. Actions that affect others are only proposed to the person."""

import functools
import logging
import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from workers.client import Refused, Work
from workers.workspace import conversation, gmail, plain_text
from workers.workspace.actions import MAX_CHARACTERS, Action, Addition, Event, Mail
from workers.workspace.calendar import Calendar
from workers.workspace.drive import Drive, identifier, new_document
from workers.workspace.execution import ActionExecutor
from workers.workspace.failures import GoogleFailed, Unusable
from workers.workspace.gmail import Gmail
from workers.workspace.google import WRITE_DOCUMENTS, WRITE_MAIL, Api, Google
from workers.workspace.settings import Settings
from workers.workspace.texts import Language, texts_in

_log = logging.getLogger("workspace")
_MAX_CALLS = 40
_QUESTION_PENDING = {"status": "The person is being asked. End your turn."}
Tool = Callable[..., dict[str, Any]]


class Toolbox:
    """The tools of one task. `question` is the one to the person; `done` lists private writes, which need no confirmation."""

    def __init__(self, google: Google, work: Work, settings: Settings, language: Language) -> None:
        self.question = ""
        self.done: list[str] = []
        self._google, self._work, self._settings, self._language = google, work, settings, language
        self._calls = 0
        self._writing = threading.Lock()

    @property
    def tools(self) -> list[Tool]:
        """The tools for reading, and those for writing that the operator allows."""
        drive, gmail = Drive(self._google), Gmail(self._google)
        calendar = Calendar(self._google, self._settings.zone)
        reading: list[Tool] = [drive.find_files, drive.read_file, gmail.search_mail, gmail.read_mail]
        reading += [calendar.list_events, calendar.find_free_time]
        writing: dict[str, list[Tool]] = {
            "mail": [self.draft_mail, self.send_mail],
            "calendar": [self.create_event],
            "docs": [self.create_document, self.append_to_document],
        }
        allowed = [tool for kind, tools in writing.items() if kind in self._settings.may_write for tool in tools]
        return [self._guarded(tool) for tool in [*reading, *allowed, self.ask_person]]

    def draft_mail(self, to: list[str], subject: str, body: str, cc: list[str] | None = None) -> dict[str, Any]:
        """Put a mail into the person's drafts. It is not sent.

        Args:
            to: mail addresses.
            subject: in one line.
            body: plain text.
            cc: mail addresses.
        """
        mail = Mail.of(to=to, cc=cc or [], subject=subject, text=body)
        with self._writing:
            raw = gmail.encoded_mail(mail)
            self._google.write(Api.GMAIL, "/drafts", {"message": {"raw": raw}}, scope=WRITE_MAIL)
            self._note(texts_in(self._language).drafted.format(subject=mail.subject))
        return {"status": "The draft is in Gmail."}

    def send_mail(self, to: list[str], subject: str, body: str, cc: list[str] | None = None) -> dict[str, Any]:
        """Ask the person whether this mail is to be sent. It is sent only if they say yes.

        Args:
            to: mail addresses.
            subject: in one line.
            body: plain text, whole: nothing is added to it.
            cc: mail addresses.
        """
        return self._propose(Mail.of(to=to, cc=cc or [], subject=subject, text=body))

    def create_event(
        self,
        title: str,
        start: str,
        end: str,
        guests: list[str] | None = None,
        place: str = "",
        description: str = "",
    ) -> dict[str, Any]:
        """Put an event into the person's calendar. If others are invited, the person is asked first.

        Args:
            title: in one line.
            start: date and time in ISO 8601; in the person's time zone unless it names an offset.
            end: the same.
            guests: mail addresses of those to invite.
            place: where it is.
            description: plain text.
        """
        event = Event.of(
            title=title,
            start=start,
            end=end,
            guests=guests or [],
            place=place,
            text=description,
            zone=self._settings.zone,
        )
        if event.guests:
            return self._propose(event)
        with self._writing:
            # The key is stable: the next worker on this task recognises the event.
            key = sha256(f"{self._work.task_id}/{event.fields()}".encode()).hexdigest()
            ActionExecutor(self._google, self._work.progress, self._language).create_event(event, key=key)
            self._note(texts_in(self._language).event_created.format(**event.fields()))
        return {"status": "The event is in the calendar."}

    def create_document(self, title: str, text: str) -> dict[str, Any]:
        """Create a Google Doc that only the person can see.

        Args:
            title: in one line.
            text: the whole text, as Markdown.
        """
        wanted = plain_text.line(title), plain_text.text(text, most=10 * MAX_CHARACTERS)
        if not all(wanted):
            raise Unusable("A document needs a title and a text.")
        with self._writing:
            made = new_document(self._google, *wanted, task_id=self._work.task_id)
            address = made.get("webViewLink", "")
            self._note(texts_in(self._language).document_created.format(title=wanted[0], address=address))
        return {"status": "The document is there.", "file_id": made.get("id"), "address": address}

    def append_to_document(self, document_id: str, text: str) -> dict[str, Any]:
        """Ask the person whether a text is to be added to the end of a Google Doc. It is added only if they say yes.

        Args:
            document_id: the file_id of the document.
            text: plain text.
        """
        path = f"/documents/{identifier(document_id)}"
        document = self._google.get(Api.DOCS, path, scope=WRITE_DOCUMENTS, fields="title")
        return self._propose(Addition.of(document=document.get("title", ""), id=document_id, text=text))

    def ask_person(self, question: str) -> dict[str, Any]:
        """Ask the person what you need to know to go on.

        Args:
            question: in the person's language.
        """
        text = plain_text.text(question, most=MAX_CHARACTERS)
        if not text or conversation.parse_question(text, self._settings.zone):
            raise Unusable("Ask for what you need to know. For writing there are tools that ask by themselves.")
        return self._ask(text)

    def _propose(self, action: Action) -> dict[str, Any]:
        return self._ask(conversation.question(action, self._language))

    def _ask(self, question: str) -> dict[str, Any]:
        with self._writing:
            if self.question:
                raise Unusable("The person is being asked something else already. End your turn.")
            self.question = question
        return _QUESTION_PENDING

    def _note(self, done: str) -> None:
        self.done.append(done)
        try:
            self._work.progress(conversation.DONE + done)
        except (OSError, Refused) as problem:
            # The write took effect, but another worker has the task.
            _log.warning("a write could not be reported: %s", problem)
            self._work.cancelled.set()

    def _guarded(self, tool: Tool) -> Tool:
        """Return the tool with its failures as sentences for the model, and a limit on its calls."""

        @functools.wraps(tool)
        def guarded(*arguments: Any, **named: Any) -> dict[str, Any]:
            self._calls += 1
            if self._work.cancelled.is_set() or self._calls > _MAX_CALLS:
                return {"error": "No more tools can be used for this task. Say what you know."}
            try:
                return tool(*arguments, **named)
            except Unusable as wrong:
                return {"error": str(wrong)}
            except GoogleFailed as failed:
                return {"error": texts_in(self._language).google[failed.cause]}
            except Exception:
                _log.exception("the tool %s failed", tool.__name__)
                return {"error": "This tool does not work with that."}

        return guarded
