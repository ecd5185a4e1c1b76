"""One turn of a task: carry out a confirmed action, let the model continue, then ask the person or answer."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from workers.client import Failed, Question, Work
from workers.workspace import conversation, texts
from workers.workspace.actions import MAX_CHARACTERS, kind_of
from workers.workspace.agent import Agent, Prompt
from workers.workspace.conversation import Conversation, Reply
from workers.workspace.execution import ActionExecutor, DraftMissing
from workers.workspace.failures import Cause, GoogleFailed, ModelFailed
from workers.workspace.google import Google
from workers.workspace.settings import Settings
from workers.workspace.texts import Language
from workers.workspace.tools import Toolbox

_INSTRUCTION = Path(__file__).with_name("instruction.md")
_NAMES = {Language.EN: "English", Language.JA: "Japanese"}
_MAX_CHARACTERS = 3 * MAX_CHARACTERS
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|<img\b[^>]*>", re.IGNORECASE)
# Only this worker marks what was done.
_TICK = re.compile(rf"^[ \t]*{conversation.DONE.strip()}[ \t]*", re.MULTILINE)
_NOTES = {
    Reply.YES: "It was done, exactly as asked. Do what is left of the request, or say in a sentence that it is done.",
    Reply.NO: "The person said no: nothing was done. Ask what they want instead, or end.",
    Reply.ELSE: "That is no yes: nothing was done. See what the person wants instead.",
}
_NOTE = "{text}\n\n(A note of the worker, not of the person: {note})"


def instruction(language: Language, now: datetime) -> str:
    """Return the model's instruction for a task in this language at this time."""
    when = now.strftime("%A %Y-%m-%d %H:%M %z")
    return _INSTRUCTION.read_text(encoding="utf-8").format(now=when, zone=now.tzinfo, language=_NAMES[language])


class WorkspaceWorker:
    """The work function for `Client.run`."""

    def __init__(
        self, agent: Agent, google: Google, settings: Settings, *, now: Callable[[Any], datetime] = datetime.now
    ) -> None:
        self._agent, self._google, self._settings, self._now = agent, google, settings, now

    def __call__(self, work: Work) -> str:
        """Return the answer. Raise Question or Failed."""
        turn = conversation.read(work.task_id, work.text, work.history, self._settings.zone)
        own_texts = texts.texts_in(turn.language)
        if len(turn.text) > _MAX_CHARACTERS:
            raise Failed(own_texts.too_long.format(characters=len(turn.text), most=_MAX_CHARACTERS))
        done = self._confirmed(turn, work)
        tools = Toolbox(self._google, work, self._settings, turn.language)
        try:
            answer = self._ask_model(turn, tools, work)
        except ModelFailed as failed:
            reason = own_texts.model[failed.cause]
            if not (done or tools.done or tools.question):
                raise Failed(reason) from None
            # The answer names what was done, so that it is not requested again.
            answer = f"{own_texts.rest_not_done} {reason}"
        notes = "".join(f"{conversation.DONE}{each}\n" for each in [*done, *tools.done])
        if tools.question:
            raise Question(f"{notes}\n{tools.question}" if notes else tools.question)
        return f"{answer}\n\n{notes}".strip() or own_texts.rest_not_done

    def _confirmed(self, turn: Conversation, work: Work) -> list[str]:
        """Carry out the action that the person just confirmed; return the lines about it."""
        if turn.pending is None or turn.reply is not Reply.YES:
            return []
        own_texts = texts.texts_in(turn.language)
        kind = kind_of(turn.pending)
        if kind not in self._settings.may_write:
            raise Failed(own_texts.not_allowed.format(kind=kind))
        executor = ActionExecutor(self._google, _reporter(work), turn.language)
        try:
            done = executor.carry_out(turn.pending, key=turn.key, steps=turn.steps)
        except DraftMissing:
            raise Failed(own_texts.draft_missing) from None
        except GoogleFailed as failed:
            unknown = failed.cause in (Cause.UNREACHABLE, Cause.BUSY)
            raise Failed(
                " ".join([own_texts.google[failed.cause], *([own_texts.result_unknown] if unknown else [])])
            ) from None
        work.progress(conversation.DONE + done)
        return [done]

    def _ask_model(self, turn: Conversation, tools: Toolbox, work: Work) -> str:
        text = turn.text
        if turn.pending is not None:
            text = _NOTE.format(text=text, note=_NOTES[turn.reply])
        prompt = Prompt(
            text=text,
            before=turn.before,
            instruction=instruction(turn.language, self._now(self._settings.zone)),
            tools=tools.tools,
            is_done=lambda: bool(tools.question),
        )
        answer = self._agent.answer(prompt, cancelled=work.cancelled)
        # The client fetches a picture's address, which could leak what the model has read.
        return _TICK.sub("- ", _IMAGE.sub(r"\1", answer))


def _reporter(work: Work) -> Callable[[str], None]:
    """Return a function that reports progress, and raises Failed if the user has cancelled the task: nobody reads why."""

    def report(text: str) -> None:
        work.progress(text)
        if work.cancelled.is_set():
            raise Failed("cancelled")

    return report
