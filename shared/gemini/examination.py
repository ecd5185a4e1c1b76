"""Examines a model with the agent's own credentials: does it answer?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from shared import diagnosis
from shared.a2a.call import Cancellation
from shared.gemini.client import Gemini, Prompt
from shared.gemini.failure import ModelFailed
from shared.gemini.remedies import remedy
from shared.gemini.settings import GeminiSettings
from shared.http.client import HttpClient

_SECONDS = 6.0
_PROMPT = Prompt(instruction="Answer with the one word that you are given.", text="ready")


def examine(gemini: Gemini, *, clock: Callable[[], float] = time.monotonic) -> Iterator[diagnosis.Step]:
    """What works, and what does not, with the command that mends it."""
    settings = gemini.settings
    started = clock()
    try:
        for _ in gemini.stream(_PROMPT, cancellation=Cancellation(), timeout_seconds=_SECONDS):
            pass
    except ModelFailed as failed:
        yield _failed(failed, gemini)
        return
    account = gemini.account or "the credentials of this machine"
    said = f"{settings.model} in {settings.location} answers {account}"
    fix = "ask again; where it stays slow, choose a faster model, or see status.cloud.google.com"
    yield diagnosis.in_time("model", said, seconds=clock() - started, fix=fix)


def examiner(settings: GeminiSettings | None) -> Callable[[], Sequence[diagnosis.Step]]:
    """What examines the model of `settings`; it says so where there is none."""
    if settings is None:
        return lambda: (diagnosis.skipped("model", "none is configured, and none is needed"),)
    gemini = Gemini(settings, http=HttpClient())
    return lambda: tuple(examine(gemini))


def _failed(failed: ModelFailed, gemini: Gemini) -> diagnosis.Step:
    settings, cause = gemini.settings, failed.failure.cause
    message = f"{settings.model} in {settings.location}: {cause.replace('_', ' ')}"
    if failed.failure.detail:
        message += f" ({failed.failure.detail})"
    return diagnosis.failed("model", message, remedy=remedy(cause, settings, account=gemini.account))
