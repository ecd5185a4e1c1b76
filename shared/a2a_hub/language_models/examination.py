"""The examination of a model with the agent's own credentials."""

import time
from collections.abc import Iterator

from a2a_hub.diagnosis import report
from a2a_hub.gemini.failure import ModelFailed
from a2a_hub.gemini.prompt import Prompt
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel

_SECONDS = 6.0
_PROMPT = Prompt(instruction="Answer with the one word that you are given.", text="ready")


def examine(model: LanguageModel | None, *, without: str) -> Iterator[report.Step]:
    """Ask the model for one word; yield the step, with the remedy of a failure; without a model, skip."""
    if model is None:
        yield report.skipped("model", without)
        return
    started = time.monotonic()
    try:
        for _ in model.stream(_PROMPT, cancellation=Cancellation(), timeout_seconds=_SECONDS):
            pass
    except ModelFailed as failed:
        hint = model.hint("model", failed.failure)
        detail = f" ({hint['detail']})" if hint["detail"] else ""
        yield report.failed("model", f"{model.name}: {hint['cause'].replace('_', ' ')}{detail}", remedy=hint["remedy"])
        return
    fix = "ask again; where it stays slow, choose a faster model, or see status.cloud.google.com"
    yield report.in_time("model", f"{model.name} answers", seconds=time.monotonic() - started, fix=fix)
