"""The examination of the answer model: it composes one small answer, which the verifier has to keep."""

import time
from collections.abc import Callable, Iterator

from a2a_hub.diagnosis import report
from a2a_hub.grounding.composer import Composed, Composer, GroundedQuestion
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.http.messages import Cancellation
from a2a_hub.text.language import Language

_SECONDS = 8.0
_ASKED = GroundedQuestion(
    question="When does the swimming pool open?",
    language=Language.EN,
    evidence=(Evidence(1, "The swimming pool opens at 9:00.", ("Pool rules",)),),
)
_SLOW = "ask again; where it stays slow, choose a faster model, or see status.cloud.google.com"
_UNFIT = "choose a larger model, or one that keeps to a JSON schema: until then, answers are quotes"


def examine(composer: Composer | None, *, clock: Callable[[], float] = time.monotonic) -> Iterator[report.Step]:
    """Yield the step, with the remedy of a failure; without a model, skip."""
    if composer is None:
        yield report.skipped("model", "none is configured (ANSWER_MODEL), and none is needed")
        return
    started = clock()
    *_, end = composer.compose(
        _ASKED, still_stands=lambda _: True, cancellation=Cancellation(), timeout_seconds=_SECONDS
    )
    assert isinstance(end, Composed)
    if end.failure:
        hint = composer.hint("model", end.failure)
        detail = f" ({hint['detail']})" if hint["detail"] else ""
        message = f"{end.model}: {hint['cause'].replace('_', ' ')}{detail}"
        yield report.failed("model", message, remedy=hint["remedy"])
    elif not end.kept:
        flaws = ", ".join(flaw for each in end.dropped for flaw in each.flaws) or "it declined"
        yield report.warning("model", f"{end.model} answers, but not what one quote says ({flaws})", fix=_UNFIT)
    else:
        summary = f"{end.model} composed a verified answer"
        yield report.in_time("model", summary, seconds=clock() - started, fix=_SLOW)
