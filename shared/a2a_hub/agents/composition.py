"""One composed answer: its text as it is verified, with marks for what it cites, and the report on it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.reply import Text
from a2a_hub.gemini.failure import Cause, failure_text
from a2a_hub.grounding.composer import Asked, Composed, Composer, Dropped
from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.text.language import Language

_STEP = "answer"
_LEFT_OUT = {
    Language.EN: "(Left out here: {count} of the model's sentences, which the sources do not bear out.)",
    Language.JA: "（出典で裏付けられない文を{count}件、省きました。）",
}


def _always(_: Evidence) -> bool:
    return True


class Composition(Struct):
    """An answer to what is `asked`. Read `text` first: the rest is known at its end."""

    composer: Composer
    asked: Asked
    call: Call
    still_stands: Callable[[Evidence], bool] = _always
    timeout_seconds: float = math.inf
    _marks: dict[int, int] = field(default_factory=dict)
    _end: Composed | None = None

    def text(self) -> Iterator[Text]:
        """Yield each verified sentence with the marks of its evidence ([1] is cited first); nothing if none passes."""
        is_japanese = self.asked.language is Language.JA
        kept = 0
        for piece in self.composer.compose(
            self.asked,
            still_stands=self.still_stands,
            cancellation=self.call.cancellation,
            timeout_seconds=self.timeout_seconds,
        ):
            match piece:
                case Sentence():
                    marks = "".join(f"[{self._mark(number)}]" for number in piece.cites)
                    yield Text((" " if kept and not is_japanese else "") + f"{piece.text} {marks}", more=True)
                    kept += 1
                case Composed():
                    self._end = piece
        if kept:
            yield from map(Text, self._notes())
        self._record()

    def _mark(self, number: int) -> int:
        return self._marks.setdefault(number, len(self._marks) + 1)

    def _notes(self) -> Iterator[str]:
        language = self.asked.language
        if self.end.dropped:
            yield f"\n\n{_LEFT_OUT[language].format(count=len(self.end.dropped))}"
        if self.end.failure:
            yield f"\n\n{failure_text(self.end.failure.cause, language, is_begun=True)}"

    @property
    def end(self) -> Composed:
        """The end of the answer."""
        assert self._end is not None
        return self._end

    @property
    def is_answered(self) -> bool:
        """True if at least one sentence went out."""
        return self.end.kept > 0

    @property
    def is_declined(self) -> bool:
        """True if the model itself says that the evidence does not answer."""
        return self.end.declined

    @property
    def cited(self) -> list[Evidence]:
        """The evidence that went out, in the order of its marks."""
        by_number = {each.number: each for each in self.asked.evidence}
        return [by_number[number] for number in self._marks]

    @property
    def unproven(self) -> tuple[int, ...]:
        """The numbers of the evidence of an answer that did not pass: a person may read there what it is."""
        return self.end.unproven

    @property
    def data(self) -> dict[str, Any]:
        """The report for the structured answer. `dropped` and `hints` are for operators."""
        end = self.end
        report: dict[str, Any] = {"model": end.model, "tokens": asdict(end.tokens)}
        if end.failure:
            report["failure"] = {"cause": end.failure.cause.value}
        data: dict[str, Any] = {"composed": report}
        # Nobody has verified what the model says that the evidence lacks.
        lacks = [Dropped(end.missing, ("declined",))] if end.missing else []
        if unshown := [*end.dropped, *lacks]:
            data["dropped"] = [asdict(each) for each in unshown]
        return data

    @property
    def hints(self) -> list[dict[str, str]]:
        """The remedy of the model's failure, for operators."""
        failure = self.end.failure
        return [self.composer.hint(_STEP, failure)] if failure and failure.cause is not Cause.CANCELLED else []

    def _record(self) -> None:
        # A sentence may quote the caller, and stays out of the log: its flaws are enough.
        end = self.end
        report = {"model": end.model, "kept": end.kept, "tokens": asdict(end.tokens), "declined": end.declined}
        report["dropped"] = [flaw for each in end.dropped for flaw in each.flaws]
        self.call.record["composed"] = report
        for hint in self.hints:
            report["failure"] = hint
            self.call.record["severity"] = "WARNING"
