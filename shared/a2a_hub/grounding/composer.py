"""Composes an answer: a model writes sentences over numbered evidence, and only those that pass the verifier go out.

The model returns ids of the evidence, never quotes: these are copied from the source. A sentence that fails a check is
dropped and counted, and the model may write it once more. The first sentence is the answer itself: without it the others would
mislead, so where it is dropped the model writes the whole reply again, and where it fails again nothing goes out
(docs/decisions/grounding.md).
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
from a2a_hub.grounding.verifier import FORGED_ID, verify
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel, schema_of
from a2a_hub.telemetry import tracing
from a2a_hub.text.language import Language

_MAX_SENTENCES = 24
_MAX_CITES = 8
_MAX_SENTENCE_CHARACTERS = 1_000
_AT_ONCE = 4
# The rest of the turn's time is for judging the last sentences, and for an answer without the model if it is late.
_SHARE_OF_MODEL = 0.8
_MIN_SECONDS_AGAIN = 2.0
TOO_LONG, MOVED, NOT_ENTAILED = "too_long", "moved", "not_entailed"


class Entailment(Protocol):
    """A judge of whether quotes support a sentence, beyond the deterministic checks."""

    def is_entailed(self, text: str, quotes: Sequence[Evidence], *, question: str, cancellation: Cancellation) -> bool:
        """Return False only if the quotes do not support the text as an answer to the question. Raises ModelFailed."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence of the model that failed a check, and its flaws."""

    text: str
    flaws: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The summary after the last sentence. `declined` is True if the model found no answer in the evidence, and `missing` its
    statement of what is not there. `dropped` are the rejected sentences of all replies, `left_out` counts those of the reply
    that is shown.

    `unproven` are the numbers of the evidence that a rejected answer cites.
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
class GroundedQuestion:
    """A question with its evidence. `earlier` are the previous questions and answers of the conversation, oldest first."""

    question: str
    language: Language
    evidence: Sequence[Evidence]
    earlier: Sequence[tuple[str, str]] = ()


class Composer:
    """A model whose sentences are checked. `still_stands` returns True if a quote is still at its place in the source."""

    def __init__(self, model: LanguageModel, *, entailment: Entailment | None = None) -> None:
        self.model = model
        self._entailment = entailment

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """See `LanguageModel.hint`."""
        return self.model.hint(step, failure)

    def compose(
        self,
        asked: GroundedQuestion,
        *,
        still_stands: Callable[[Evidence], bool],
        cancellation: Cancellation,
        timeout_seconds: float = math.inf,
    ) -> Iterator[Sentence | Composed]:
        """Yield each sentence as soon as it is verified, and `Composed` last."""
        until = time.monotonic() + min(timeout_seconds, cancellation.seconds_left * _SHARE_OF_MODEL)
        run = _ReplyCheck(asked, still_stands, self._entailment, cancellation)
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="entailment") as judges:
            form, failure, tokens = yield from self._reply(run, judges, until)
            dropped = run.dropped
            if run.to_repeat and not failure and until - time.monotonic() >= _MIN_SECONDS_AGAIN:
                again = _ReplyCheck(asked, still_stands, self._entailment, cancellation, before=run)
                other_form, failed, more = yield from self._reply(again, judges, until)
                dropped, tokens = dropped + again.dropped, tokens + more
                if not run.rejected_answer:
                    run = again if again.kept > run.kept else run
                elif again.kept or not failed:
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
            unproven=() if run.kept or not run.rejected_answer else tuple(run.cited),
            failure=failure,
            tokens=tokens,
        )

    def _reply(
        self, run: "_ReplyCheck", judges: ThreadPoolExecutor, until: float
    ) -> Generator[Sentence, None, tuple[Form | None, Failure | None, Tokens]]:
        """Yield the verified sentences of one reply; return the reply, the model's failure, and the tokens used."""
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


class _ReplyCheck:
    """The checks of one reply's sentences, in order.

    It takes the place of the reply `before` it if the answer of that failed a check, else that of its dropped sentences.
    """

    def __init__(
        self,
        asked: GroundedQuestion,
        still_stands: Callable[[Evidence], bool],
        entailment: Entailment | None,
        cancellation: Cancellation,
        before: "_ReplyCheck | None" = None,
    ) -> None:
        self._asked = asked
        self._evidence = {each.number: each for each in asked.evidence}
        self._still_stands = still_stands
        self._entailment = entailment
        self.cancellation = cancellation
        self.prompt = Prompt(
            instruction=instruction(asked.language),
            text=prompt_text(
                asked,
                rejected=[(each.text, each.flaws) for each in before.to_repeat] if before else (),
                is_told=bool(before and before.kept),
            ),
            temperature=0.0,
            json_schema=schema_of(Form),
        )
        self._judged: deque[tuple[Sentence, Future[bool] | None]] = deque()
        self._examined = 0
        self.kept: int = before.kept if before else 0
        self._texts: set[str] = set(before._texts) if before else set()
        self.dropped: list[Dropped] = []
        self.rejected_answer: Dropped | None = None
        """The first sentence with a source, which is the answer itself, if it failed a check: no other sentence is shown then."""
        self.cited: dict[int, None] = dict(before.cited) if before and before.kept else {}
        """The numbers of the evidence that the reply cites, in order."""

    @property
    def to_repeat(self) -> list[Dropped]:
        """The dropped sentences that the model may write again: the answer alone, or those behind it that have a source."""
        if self.rejected_answer:
            return [self.rejected_answer]
        return [each for each in self.dropped if not {TOO_LONG, FORGED_ID} & set(each.flaws)] if self.kept else []

    def examine(self, written: WrittenSentence, judges: ThreadPoolExecutor) -> None:
        """Check a sentence, and submit it to the judge if it passes."""
        self._examined += 1
        sentence = Sentence(" ".join(written.text.split()), tuple(dict.fromkeys(written.cites)))
        if sentence.text in self._texts:
            return
        flaws = self._flaws(sentence)
        is_first = not self.cited
        self.cited |= dict.fromkeys(number for number in sentence.cites if number in self._evidence)
        if flaws:
            self._drop(sentence, tuple(flaws), is_answer=is_first and bool(sentence.cites))
            return
        quotes = [self._evidence[number] for number in sentence.cites]
        # The span of the judge's call belongs to this request.
        within_request = copy_context().run
        is_judged = self._entailment and not self.rejected_answer
        judged = judges.submit(within_request, self._is_entailed, sentence.text, quotes) if is_judged else None
        self._judged.append((sentence, judged))

    def settled(self, *, wait: bool) -> Iterator[Sentence]:
        """Yield the accepted sentences in order, as far as they have been judged; with `wait`, all of them."""
        while self._judged and (wait or self._judged[0][1] is None or self._judged[0][1].done()):
            sentence, judged = self._judged.popleft()
            if judged is not None and not judged.result():
                self._drop(sentence, (NOT_ENTAILED,), is_answer=not self.kept)
            elif not self.rejected_answer:
                self.kept += 1
                self._texts.add(sentence.text)
                yield sentence

    def _drop(self, sentence: Sentence, flaws: tuple[str, ...], *, is_answer: bool) -> None:
        dropped = Dropped(sentence.text[:_MAX_SENTENCE_CHARACTERS], flaws)
        self.dropped.append(dropped)
        if is_answer and not self.rejected_answer:
            self.rejected_answer = dropped

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
