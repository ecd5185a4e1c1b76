"""The advisor and the practices that it knows: it gives the requested number of tasks in order, and invents none."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import Rule, Wording, read_folder, some_titles, topic_of, topics_of
from a2a_hub.agents.question_form import (
    AnswerFormat,
    asking_paragraph,
    first_sentence,
    requested_format,
    sentences,
    split_questions,
)
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.follow_up import subject_of
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text
from functions.pm.counting import requested_portion

_DEFAULT_COUNT = 5
_MAX_ANSWERS = 3
_MAX_EVIDENCE_CHARACTERS = 12_000
_SOURCE = "practices#"

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know about running a project? I can help with: {topics}.",
    Language.JA: "プロジェクトの進め方について、何をお手伝いしましょうか。対応できる項目：{topics}。",
}
_NOT_KNOWN = {
    Language.EN: "I have nothing on this among the project management practices that I know. "
    "I can help with: {topics}.",
    Language.JA: "この点は、私の知っているプロジェクト管理の知識にはありません。対応できる項目：{topics}。",
}
_FEWER = {
    Language.EN: "These are all {known} that I know; you asked for {requested}.",
    Language.JA: "ご希望は{requested}件でしたが、私が知っているのは以上の{known}件です。",
}
_NO_MORE = {
    Language.EN: "I know no more than these {known}.",
    Language.JA: "私が知っているのは全部で{known}件です。",
}
_COLUMNS = {Language.EN: "| No. | What | How |", Language.JA: "| 番号 | 項目 | 内容 |"}
_COMPARES = re.compile(
    r"\bdifferen(?:ce|t)\b|\bdiffers?\b|\bcompar|\bvs\b|\bversus\b|違い|ちがい|差は|比較|比べ|使い分け"
)


class Task(Wording, frozen=True, forbid_unknown_fields=True):
    """One thing to do, written "title | description"."""

    def __post_init__(self) -> None:
        for text in (self.en, self.ja):
            if text.count(" | ") != 1:
                raise ValueError(f"{text!r} is not written as: title | description")

    def title(self, language: Language) -> str:
        """Return the task in a few words."""
        return self.in_(language).split(" | ")[0]

    def description(self, language: Language) -> str:
        """Return the description in a sentence."""
        return self.in_(language).split(" | ")[1]


class Topic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice. `items` names its tasks: "tasks for creating a WBS"; the first ones matter most."""

    id: str
    rank: int
    clues: tuple[str, ...]
    title: Wording
    about: Wording
    items: Wording
    tasks: tuple[Task, ...]


class Practices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All topics."""

    topics: tuple[Topic, ...]


def load(folder: Path) -> Practices:
    """Return the practices in the TOML files of a folder. Raises ValueError if an entry is incomplete."""
    return Practices(topics=tuple(topic for file in read_folder(folder, Practices) for topic in file.topics))


class Advisor:
    """The agent. Holds no state between questions."""

    def __init__(self, practices: Practices) -> None:
        self._topics = {topic.id: topic for topic in practices.topics}
        self._rules = tuple(Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in practices.topics)

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """Yield a practice and its tasks; only tasks if a number is requested; a sentence each if two practices are compared."""
        text = text_of(request.message)
        question, asking = question_text(text), question_text(asking_paragraph(text))
        language = answer_language(asking)
        if not question:
            yield Question(_EMPTY_QUESTION[language].format(topics=self._titles(language)))
            return
        found = topics_of(subject_of(asking), self._rules) or topics_of(subject_of(question), self._rules)
        chosen = found[0] if found else None
        call.record["topic"] = chosen
        if chosen is None:
            yield from self.abstention(question, language)
            return
        if len(found) > 1 and _COMPARES.search(question.casefold()):
            yield from _compare([self._topics[each] for each in found[:2]], language)
            return
        several = self._several(question)
        if len(several) > 1:
            yield from _answer_each(several, language)
            return
        yield from _answer(self._topics[chosen], question, language)

    def evidence(self, question: str, language: Language) -> Sequence[Evidence]:
        """See `Knowledge`: the topics of the question, and others; nothing for a list, which the rules answer."""
        counted = requested_portion(question, usual=_DEFAULT_COUNT).count is not None
        if counted or "\n" in question or requested_format(question) is AnswerFormat.TABLE:
            return ()
        order = dict.fromkeys((*topics_of(question, self._rules), *self._topics))
        found: list[Evidence] = []
        left = _MAX_EVIDENCE_CHARACTERS
        for topic in map(self._topics.__getitem__, order):
            context = (topic.title.in_(language), topic.items.in_(language))
            texts = [*sentences(topic.about.in_(language)), *(_line(task, language) for task in topic.tasks)]
            left -= sum(map(len, texts))
            if left < 0:
                break
            found += [Evidence(at, text, context, _SOURCE + topic.id) for at, text in enumerate(texts, len(found) + 1)]
        return found

    def data(self, cited: Sequence[Evidence], language: Language) -> dict[str, Any]:
        """See `Knowledge`."""
        texts = {each.text for each in cited}
        topics = [self._topics[each] for each in dict.fromkeys(each.source.removeprefix(_SOURCE) for each in cited)]
        tasks = [task for topic in topics for task in topic.tasks if _line(task, language) in texts]
        return _data(topics[0], tasks, language, requested=None)

    def abstention(self, _: str, language: Language) -> Iterator[Piece]:
        """See `Knowledge`."""
        yield declining(Reason.NOTHING_KNOWN, {"topic": None, "answered": False, "topics": list(self._topics)})
        yield Text(_NOT_KNOWN[language].format(topics=self._titles(language)))

    def _several(self, question: str) -> list[tuple[str, Topic]]:
        """Return the practices of separate questions, each with its question; a follow-up is one question."""
        if "\n" in question:
            return []
        found = [(each, topic_of(each, self._rules)) for each in split_questions(question)]
        parts = {topic: (each, self._topics[topic]) for each, topic in found if topic is not None}
        return list(parts.values())[:_MAX_ANSWERS]

    def _titles(self, language: Language) -> str:
        return some_titles([topic.title for topic in self._topics.values()], language)


def _answer_each(parts: Sequence[tuple[str, Topic]], language: Language) -> Iterator[Piece]:
    tasks: list[Any] = []
    for number, (question, topic) in enumerate(parts):
        if number:
            yield Text("\n\n")
        for piece in _answer(topic, question, language):
            if isinstance(piece, Data):
                tasks += piece.value["tasks"]
            else:
                yield piece
    first = parts[0][1]
    yield Data({"topic": first.id, "answered": True, "also": [topic.id for _, topic in parts[1:]], "tasks": tasks})


def _compare(topics: Sequence[Topic], language: Language) -> Iterator[Piece]:
    yield Text("\n".join(f"- {first_sentence(topic.about.in_(language))}" for topic in topics))
    yield Data({"topic": topics[0].id, "answered": True, "compared": [topic.id for topic in topics], "tasks": []})


def _answer(topic: Topic, question: str, language: Language) -> Iterator[Piece]:
    portion, form = requested_portion(question, usual=_DEFAULT_COUNT), requested_format(question)
    counted = portion.count is not None
    if form is AnswerFormat.BRIEF and not counted:
        yield Text(first_sentence(topic.about.in_(language)))
        yield Data(_data(topic, (), language, requested=None))
        return
    end = portion.skipped + (portion.count or _DEFAULT_COUNT)
    tasks = topic.tasks[portion.skipped : end]
    if tasks:
        yield Text(_heading(topic, tasks, language, counted=counted or portion.skipped > 0))
        yield from (Text(line) for line in _items(form, tasks, language, portion.skipped + 1))
    if not tasks or (counted and end > len(topic.tasks)):
        fewer = _FEWER if tasks and not portion.skipped else _NO_MORE
        note = fewer[language].format(known=len(topic.tasks), requested=portion.count)
        yield Text(f"\n\n{note}" if tasks else note)
    yield Data(_data(topic, tasks, language, requested=portion.count))


def _heading(topic: Topic, tasks: Sequence[Task], language: Language, *, counted: bool) -> str:
    items = topic.items.in_(language)
    if language is Language.JA:
        items = f"{items}（{len(tasks)}件）：" if counted else f"{items}："
    else:
        counted_items = f"{len(tasks)} {items}" if counted and len(tasks) > 1 else items
        items = f"{counted_items[:1].upper()}{counted_items[1:]}:"
    return items if counted else f"{topic.about.in_(language).strip()}\n\n{items}"


def _line(task: Task, language: Language) -> str:
    separator = "：" if language is Language.JA else ": "
    return f"{task.title(language)}{separator}{task.description(language)}"


def _items(form: AnswerFormat, tasks: Sequence[Task], language: Language, first: int) -> Iterator[str]:
    if form is AnswerFormat.TABLE:
        yield f"\n\n{_COLUMNS[language]}\n| --- | --- | --- |"
    for number, task in enumerate(tasks, start=first):
        title, description = task.title(language), task.description(language)
        match form:
            case AnswerFormat.FULL:
                yield f"\n{number}. {_line(task, language)}"
            case AnswerFormat.BRIEF:
                yield f"\n{number}. {title}"
            case AnswerFormat.TABLE:
                yield f"\n| {number} | {title} | {description} |"


def _data(topic: Topic, tasks: Sequence[Task], language: Language, *, requested: int | None) -> dict[str, Any]:
    return {
        "topic": topic.id,
        "answered": True,
        "asked": requested,
        "tasks": [{"title": task.title(language), "description": task.description(language)} for task in tasks],
    }
