"""Replies that a careful reader gave in place of a model, over the prompts of fresh questions, through composer and verifier."""

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import evaluation.documents
from a2a_hub.grounding.settings import BY_NOBODY, composer
from a2a_hub.http.client import HttpClient
from a2a_hub.language_models.openai_compatible import OpenAiCompatible
from functions.docqa.app import answers_of
from functions.docqa.engine import DocumentQA
from functions.docqa.query_expansion import QueryExpansion
from hubctl.live.corpus_questions import CorpusQuestion, Outcome, outcome, read_corpus_questions
from tests.fakes.chat_completions import ChatCompletions, openai_settings
from tests.fakes.http_server import Exchange
from tests.fakes.vertex import said

_SETS = Path(evaluation.documents.__file__).parent


class _Reader:
    """The recorded replies; a quote's section and text stand for its id, which is looked up in the prompt.

    `again` is the reply of a reader who was told what failed.
    """

    def __init__(self, name: str) -> None:
        lines = (_SETS / name / "replies.jsonl").read_text(encoding="utf-8").splitlines()
        self.replies = {reply["id"]: reply for reply in map(json.loads, lines)}
        questions = read_corpus_questions(_SETS / name / "questions.jsonl")
        self.questions = [each for each in questions if each.id in self.replies]

    def __call__(self, body: dict[str, Any], _: Exchange) -> list[str]:
        ids: dict[tuple[str, str], int] = {}
        section = question = rejected = ""
        for line in map(json.loads, body["messages"][1]["content"].splitlines()):
            section, question = line.get("section", section), line.get("question", question)
            rejected = line.get("rejected", rejected)
            if "id" in line:
                ids[section, line["text"]] = line["id"]
        reply = self._reply(question)
        if rejected:
            reply = reply.get("again", reply)
        if "words" in body["response_format"]["json_schema"]["schema"]["properties"]:
            return [json.dumps({"words": reply.get("words", [])})]
        quotes = {(quote["section"], quote["text"]) for each in reply["sentences"] for quote in each["quotes"]}
        if "words" in reply and not quotes <= ids.keys():
            return [json.dumps({"answerable": False, "missing": "", "sentences": []})]
        sentences = [
            {"text": each["text"], "cites": [ids.get((quote["section"], quote["text"]), 0) for quote in each["quotes"]]}
            for each in reply["sentences"]
        ]
        return [json.dumps({"answerable": reply["answerable"], "missing": reply["missing"], "sentences": sentences})]

    def _reply(self, question: str) -> dict[str, Any]:
        (found,) = [each for each in self.questions if each.question == question]
        reply: dict[str, Any] = self.replies[found.id]
        return reply


@pytest.fixture(scope="module")
def outcomes() -> Counter[tuple[bool, Outcome]]:
    found: Counter[tuple[bool, Outcome]] = Counter()
    for name in sorted(file.parent.name for file in _SETS.glob("*/replies.jsonl")):
        reader = _Reader(name)
        with ChatCompletions(reader) as server, closing(DocumentQA(_SETS / name / "corpus", None)) as engine:
            settings = openai_settings(f"{server.url}/v1", timeout_seconds=60.0)
            model = OpenAiCompatible(settings, http=HttpClient())
            answer = answers_of(engine, composer(model, check=BY_NOBODY), QueryExpansion(model))
            found.update((question.answerable, _outcome(question, answer)) for question in reader.questions)
    return found


def _outcome(question: CorpusQuestion, answer: Any) -> Outcome:
    reply = said(answer, question.question)
    return outcome(question, {"answer": reply.text, "data": reply.data, "citations": reply.data["citations"]})


def test_what_a_careful_reader_says_is_kept_and_right(outcomes: Counter[tuple[bool, Outcome]]) -> None:
    answerable = sum(count for (is_answerable, _), count in outcomes.items() if is_answerable)
    assert outcomes[True, Outcome.RIGHT] >= 0.9 * answerable, outcomes
    assert outcomes[True, Outcome.WRONG] <= 0.03 * answerable, outcomes


def test_what_the_documents_do_not_tell_is_not_answered(outcomes: Counter[tuple[bool, Outcome]]) -> None:
    assert not outcomes[False, Outcome.WRONG], outcomes
