"""The hub's own texts for people, in English and Japanese. Never an exception, an address or a token."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from a2a_hub.a2a.model import Part, file_text
from a2a_hub.quota.limits import wait_text
from a2a_hub.routing.routes import Route
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.catalog import Text
from a2a_hub.text.language import Language
from functions.hub.failure import Failure, FailureKind

_FILE = Path(__file__).with_suffix(".toml")
_EN, _JA = Language.EN, Language.JA

_WHAT = {each: Text(_FILE, f"failures.{each.name.lower()}") for each in FailureKind}
_RETRY = Text(_FILE, "retry")
_ADMINISTRATOR = Text(_FILE, "administrator")
_REPHRASE = Text(_FILE, "rephrase")
_NOT_KEPT = Text(_FILE, "not_kept")
_IN_TIME = Text(_FILE, "in_time")
_ACCESS = Text(_FILE, "access")
_CORRECT = Text(_FILE, "correct")
_OTHER_FILE = Text(_FILE, "other_file")
_WHAT_TO_DO = {
    FailureKind.NOT_ACCEPTED: _CORRECT,
    FailureKind.NOT_PERMITTED: _ACCESS,
    FailureKind.NOT_ALLOWED: _ADMINISTRATOR,
    FailureKind.UNTASKED: _ADMINISTRATOR,
    FailureKind.NOT_FOUND: _ADMINISTRATOR,
    FailureKind.TOO_LARGE: _REPHRASE,
    FailureKind.FAILED: _REPHRASE,
    FailureKind.UNSAFE_REQUEST: _REPHRASE,
    FailureKind.UNSAFE_ANSWER: _REPHRASE,
    FailureKind.UNSCREENABLE: _OTHER_FILE,
    FailureKind.LIMITED: _IN_TIME,
}
EMPTY_MESSAGE = (
    "Your message contained no text, so there is nothing to answer yet. Please write your question.\n"
    "メッセージに文章が含まれていませんでした。ご質問を入力してください。"
)
_FILES = Text(_FILE, "files")
FLAGGED = Text(_FILE, "flagged")
NO_ANSWER = Text(_FILE, "no_answer")
QUESTION = Text(_FILE, "question")
TASK_TEXTS = UiTexts(
    still_working=Text(_FILE, "tasks.still_working"),
    waits_for_worker=Text(_FILE, "tasks.waits_for_worker"),
    unnumbered=Text(_FILE, "tasks.unnumbered"),
    store_away=Text(_FILE, "tasks.store_away"),
    without_answer=Text(_FILE, "tasks.without_answer"),
    canceled=Text(_FILE, "tasks.canceled"),
    trying_again=Text(_FILE, "tasks.trying_again"),
)


def name_of(route: Route, language: Language) -> str:
    """Return the agent's name as users know it."""
    return route.name_ja if language is Language.JA else route.name


def agent_text(text: Mapping[Language, str], route: Route, language: Language, **values: object) -> str:
    """Return a text with the agent's name, and other values, in their places."""
    return text[language].format(agent=name_of(route, language), **values)


def failure_text(
    failure: Failure, route: Route | None, *, language: Language, reference: str, is_answer: bool = False
) -> str:
    """Return the agent (if there was one), the failure, what the user can do, and a reference; of an answer to a question of the
    agent, that it is not kept.
    """
    values = {"wait": wait_text(failure.seconds_to_wait or 0, language), "reference": reference}
    otherwise = _RETRY if failure.seconds_to_wait is None else _IN_TIME
    advice = [_WHAT_TO_DO.get(failure.opened_by or failure.kind, otherwise)]
    if is_answer and failure.retryable:
        advice.insert(0, _NOT_KEPT)
    sentences = [reason_text(failure, route, language), *(each[language].format(**values) for each in advice)]
    return (" " if language is Language.EN else "").join(sentences)


def reason_text(failure: Failure, route: Route | None, language: Language) -> str:
    """Return what happened; while the circuit is open, what happened last, too."""
    values = {"agent": name_of(route, language) if route else "", "fields": ", ".join(failure.fields)}
    values["last"] = _WHAT[failure.opened_by][language].format(**values) if failure.opened_by else ""
    return _WHAT[failure.kind][language].format(**values)


def files_alone_text(files: Sequence[Part]) -> str:
    """Return the answer to files without text that no agent takes so, in both languages."""
    names = ", ".join(map(file_text, files))
    return f"{_FILES[_EN].format(files=names)}\n{_FILES[_JA].format(files=names)}"
