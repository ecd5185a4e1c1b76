"""The hub's own texts for people, in English and Japanese. Never an exception, an address or a token."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from a2a_hub.a2a.model import Part, file_text
from a2a_hub.quota.limits import wait_text
from a2a_hub.routing.routes import Route
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.language import Language
from functions.hub.failure import Failure, FailureKind

HUB_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))
_EN, _JA = Language.EN, Language.JA

_WHAT = {each: HUB_TEXTS[f"failures.{each.name.lower()}"] for each in FailureKind}
_WHAT_TO_DO = {
    FailureKind.NOT_ACCEPTED: HUB_TEXTS.correct,
    FailureKind.NOT_PERMITTED: HUB_TEXTS.access,
    FailureKind.NOT_ALLOWED: HUB_TEXTS.administrator,
    FailureKind.UNTASKED: HUB_TEXTS.administrator,
    FailureKind.NOT_FOUND: HUB_TEXTS.administrator,
    FailureKind.TOO_LARGE: HUB_TEXTS.rephrase,
    FailureKind.FAILED: HUB_TEXTS.rephrase,
    FailureKind.UNSAFE_REQUEST: HUB_TEXTS.rephrase,
    FailureKind.UNSAFE_ANSWER: HUB_TEXTS.rephrase,
    FailureKind.UNSCREENABLE: HUB_TEXTS.other_file,
    FailureKind.LIMITED: HUB_TEXTS.in_time,
}
EMPTY_MESSAGE = (
    "Your message contained no text, so there is nothing to answer yet. Please write your question.\n"
    "メッセージに文章が含まれていませんでした。ご質問を入力してください。"
)
TASK_TEXTS = UiTexts(
    still_working=HUB_TEXTS["tasks.still_working"],
    waits_for_worker=HUB_TEXTS["tasks.waits_for_worker"],
    unnumbered=HUB_TEXTS["tasks.unnumbered"],
    store_away=HUB_TEXTS["tasks.store_away"],
    without_answer=HUB_TEXTS["tasks.without_answer"],
    canceled=HUB_TEXTS["tasks.canceled"],
    trying_again=HUB_TEXTS["tasks.trying_again"],
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
    otherwise = HUB_TEXTS.retry if failure.seconds_to_wait is None else HUB_TEXTS.in_time
    advice = [_WHAT_TO_DO.get(failure.opened_by or failure.kind, otherwise)]
    if is_answer and failure.retryable:
        advice.insert(0, HUB_TEXTS.not_kept)
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
    return f"{HUB_TEXTS.files[_EN].format(files=names)}\n{HUB_TEXTS.files[_JA].format(files=names)}"
