"""The examination of a model with the agent's own credentials."""

import time
from collections.abc import Iterator

from a2a_hub.diagnosis import report
from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.failure import ModelFailed, remedy
from a2a_hub.gemini.prompt import Prompt
from a2a_hub.http.messages import Cancellation

_SECONDS = 6.0
_PROMPT = Prompt(instruction="Answer with the one word that you are given.", text="ready")


def examine(gemini: Gemini | None, *, without: str) -> Iterator[report.Step]:
    """Ask the model for one word; yield the step, with the command that fixes a failure; without a model, skip."""
    if gemini is None:
        yield report.skipped("model", without)
        return
    settings = gemini.settings
    started = time.monotonic()
    try:
        for _ in gemini.stream(_PROMPT, cancellation=Cancellation(), timeout_seconds=_SECONDS):
            pass
    except ModelFailed as failed:
        yield _failed(failed, gemini)
        return
    account = gemini.account or "the credentials of this machine"
    summary = f"{settings.model} in {settings.location} answers {account}"
    fix = "ask again; where it stays slow, choose a faster model, or see status.cloud.google.com"
    yield report.in_time("model", summary, seconds=time.monotonic() - started, fix=fix)


def _failed(failed: ModelFailed, gemini: Gemini) -> report.Step:
    settings, cause = gemini.settings, failed.failure.cause
    message = f"{settings.model} in {settings.location}: {cause.replace('_', ' ')}"
    if failed.failure.detail:
        message += f" ({failed.failure.detail})"
    return report.failed("model", message, remedy=remedy(cause, settings, account=gemini.account))
