"""Composes an answer: a model writes sentences over numbered evidence, and only those that pass the verifier go out.

The model returns ids of the evidence, never quotes: these are copied from the source. A sentence that fails a check is
dropped and counted. The first one is the answer itself: without it the others would mislead, so the model may write its reply
once more, and where it fails again nothing goes out (docs/decisions/grounding.md).
"""

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens
from a2a_hub.gemini.prompt import Ended, Prompt
from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.grounding.prompt import instruction, prompt_text
from a2a_hub.grounding.sentence_stream import Form, SentenceStream, WrittenSentence
from a2a_hub.grounding.verifier import verify
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel, schema_of
from a2a_hub.telemetry import tracing
from a2a_hub.text.language import Language

_MAX_SENTENCES = 24
_MAX_CITES = 8
_MAX_SENTENCE_CHARACTERS = 1_000
_AT_ONCE = 4
# The rest of a turn's time is for the judgement of the last sentences, and for another answer if the model is late.
_SHARE_OF_MODEL = 0.8
_LEAST_SECONDS_AGAIN = 2.0
TOO_LONG, MOVED, NOT_ENTAILED = "too_long", "moved", "not_entailed"


class Entailment(Protocol):
    """A judge of what quotes say, beyond the deterministic checks."""

    def is_entailed(self, text: str, quotes: Sequence[Evidence], *, question: str, cancellation: Cancellation) -> bool:
        """Return False only if the quotes do not bear out what the text answers to the question. Raises ModelFailed."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence of the model that did not pass, and its flaws."""

    text: str
    flaws: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The end of an answer. `declined`: the model's last word is that the evidence does not answer; `missing` is what it says
    that the evidence does not tell. `dropped` are the sentences of all its replies, `left_out` those of the reply that is shown.

    `unproven` are the numbers of the evidence that it names for an answer that did not pass.
    """

    model: str
    kept: int
    declined: bool
    missing: str
    dropped: tuple[Dropped, ...]
    left_out: int
    unproven: tuple[int, ...]
    failure: Failure | None
    tokens: Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with what it is answered from. `earlier` are the questions and answers before it, the oldest first."""

    question: str
    language: Language
    evidence: Sequence[Evidence]
    earlier: Sequence[tuple[str, str]] = ()


class Composer:
    """A model with the checks of what it writes. `still_stands` says whether a quote is at its place in the source."""

    def __init__(self, model: LanguageModel, *, entailment: Entailment | None = None) -> None:
        self.model = model
        self._entailment = entailment

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """See `LanguageModel.hint`."""
        return self.model.hint(step, failure)

    def compose(
        self,
        asked: Asked,
        *,
        still_stands: Callable[[Evidence], bool],
        cancellation: Cancellation,
        timeout_seconds: float = math.inf,
    ) -> Iterator[Sentence | Composed]:
        """Yield each verified sentence as soon as it is, and `Composed` last."""
        until = time.monotonic() + min(timeout_seconds, cancellation.seconds_left * _SHARE_OF_MODEL)
        run = _Run(asked, still_stands, self._entailment, cancellation)
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="entailment") as judges:
            form, failure, tokens = yield from self._reply(run, judges, until)
            dropped = run.dropped
            if run.lost and not failure and until - time.monotonic() >= _LEAST_SECONDS_AGAIN:
                again = _Run(asked, still_stands, self._entailment, cancellation, rejected=run.lost)
                other_form, failed, more = yield from self._reply(again, judges, until)
                dropped, tokens = dropped + again.dropped, tokens + more
                if again.kept or not failed:
                    run, form, failure = again, other_form, failed
        if dropped:
            tracing.add("a2a_hub.sentences.dropped", len(dropped))
        yield Composed(
            model=self.model.name,
            kept=run.kept,
            declined=form is not None and not (run.kept or run.dropped),
            missing=form.missing[:_MAX_SENTENCE_CHARACTERS] if form else "",
            dropped=tuple(dropped),
            left_out=len(run.dropped),
            unproven=() if run.kept or not run.lost else tuple(run.cited),
            failure=failure,
            tokens=tokens,
        )

    def _reply(
        self, run: "_Run", judges: ThreadPoolExecutor, until: float
    ) -> Generator[Sentence, None, tuple[Form | None, Failure | None, Tokens]]:
        """Yield the verified sentences of one reply, and return its form, the model's failure and what it cost."""
        failure: Failure | None = None
        tokens = Tokens()
        stream = SentenceStream()
        seconds = until - time.monotonic()
        try:
            for piece in self.model.stream(run.prompt, cancellation=run.cancellation, timeout_seconds=seconds):
                match piece:
                    case str():
                        for written in stream.read(piece):
                            run.examine(written, judges)
                        yield from run.settled(wait=False)
                    case Ended():
                        tokens = piece.tokens
        except ModelFailed as failed:
            failure = failed.failure
        except ValueError:
            failure = Failure(cause=Cause.BROKEN, detail="the model wrote more than an answer may have")
        yield from run.settled(wait=True)
        form = stream.form()
        if form is None and failure is None:
            failure = Failure(cause=Cause.BROKEN, detail="the model did not answer in the form that it was given")
        return form, failure, tokens


class _Run:
    """The sentences of one reply, in their order, while they are checked. `rejected`: the lost one of the reply before it."""

    def __init__(
        self,
        asked: Asked,
        still_stands: Callable[[Evidence], bool],
        entailment: Entailment | None,
        cancellation: Cancellation,
        rejected: Dropped | None = None,
    ) -> None:
        self._asked = asked
        self._evidence = {each.number: each for each in asked.evidence}
        self._still_stands = still_stands
        self._entailment = entailment
        self.cancellation = cancellation
        self.prompt = Prompt(
            instruction=instruction(asked.language),
            text=prompt_text(asked, rejected=(rejected.text, rejected.flaws) if rejected else None),
            temperature=0.0,
            json_schema=schema_of(Form),
        )
        self._judged: deque[tuple[Sentence, Future[bool] | None]] = deque()
        self._examined = 0
        self.kept = 0
        self.dropped: list[Dropped] = []
        self.lost: Dropped | None = None
        """The answer itself, the first sentence with a source, if it did not pass: then none of the others goes out."""
        self.cited: dict[int, None] = {}
        """The numbers of the evidence that the reply names, the first first."""

    def examine(self, written: WrittenSentence, judges: ThreadPoolExecutor) -> None:
        """Check a sentence, and let it be judged if it passes."""
        self._examined += 1
        sentence = Sentence(" ".join(written.text.split()), tuple(dict.fromkeys(written.cites)))
        flaws = self._flaws(sentence)
        is_first = not self.cited
        self.cited |= dict.fromkeys(number for number in sentence.cites if number in self._evidence)
        if flaws:
            self._drop(sentence, tuple(flaws), is_answer=is_first and bool(sentence.cites))
            return
        quotes = [self._evidence[number] for number in sentence.cites]
        # The span of the judge's call belongs to this request.
        within_request = copy_context().run
        is_judged = self._entailment and not self.lost
        judged = judges.submit(within_request, self._is_entailed, sentence.text, quotes) if is_judged else None
        self._judged.append((sentence, judged))

    def settled(self, *, wait: bool) -> Iterator[Sentence]:
        """Yield the kept sentences in their order, as far as they have been judged; all of them with `wait`."""
        while self._judged and (wait or self._judged[0][1] is None or self._judged[0][1].done()):
            sentence, judged = self._judged.popleft()
            if judged is not None and not judged.result():
                self._drop(sentence, (NOT_ENTAILED,), is_answer=not self.kept)
            elif not self.lost:
                self.kept += 1
                yield sentence

    def _drop(self, sentence: Sentence, flaws: tuple[str, ...], *, is_answer: bool) -> None:
        dropped = Dropped(sentence.text[:_MAX_SENTENCE_CHARACTERS], flaws)
        self.dropped.append(dropped)
        if is_answer and not self.lost:
            self.lost = dropped

    def _flaws(self, sentence: Sentence) -> Sequence[str]:
        if (
            self._examined > _MAX_SENTENCES
            or len(sentence.text) > _MAX_SENTENCE_CHARACTERS
            or len(sentence.cites) > _MAX_CITES
        ):
            return (TOO_LONG,)
        quotes = [self._evidence[number] for number in sentence.cites if number in self._evidence]
        if not all(map(self._still_stands, quotes)):
            return (MOVED,)
        return verify(sentence, self._evidence, question=self._asked.question)

    def _is_entailed(self, text: str, quotes: Sequence[Evidence]) -> bool:
        assert self._entailment is not None
        try:
            question = self._asked.question
            return self._entailment.is_entailed(text, quotes, question=question, cancellation=self.cancellation)
        except ModelFailed:
            # The deterministic checks have passed.
            return True
