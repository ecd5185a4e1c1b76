"""Answers from the practices: as many tasks as were asked for, in order, and no invented ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from functions.pm.counting import asked_count
from functions.pm.knowledge import Practices, Task, Topic
from shared.a2a.call import Call
from shared.a2a.model import SendMessageRequest
from shared.a2a.reply import Data, Piece, Question, Text
from shared.a2a.text import text_of
from shared.agents.topics import Rule, some_titles, topic_of
from shared.language import Language, language_of

_DEFAULT_COUNT = 5

_WHAT_IS_ASKED = {
    Language.EN: "What would you like to know about running a project? I can help with: {topics}.",
    Language.JA: "プロジェクトの進め方について、何をお手伝いしましょうか。対応できる項目：{topics}。",
}
_NOT_KNOWN = {
    Language.EN: "I have nothing on this among the project management practices that I know. "
    "I can help with: {topics}.",
    Language.JA: "この点は、私の知っているプロジェクト管理の知識にはありません。対応できる項目：{topics}。",
}
_FEWER = {
    Language.EN: "These are all {known} that I know; you asked for {asked}.",
    Language.JA: "ご希望は{asked}件でしたが、私が知っているのは以上の{known}件です。",
}


class Advisor:
    """The agent. Holds no state between questions."""

    def __init__(self, practices: Practices) -> None:
        self._topics = {topic.id: topic for topic in practices.topics}
        self._rules = tuple(
            Rule.of(topic.id, rank=topic.rank, clues=topic.clues) for topic in practices.topics
        )

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """What the practice is, unless a number of things was asked for; then its tasks, numbered."""
        question = text_of(request.message)
        language = language_of(question)
        if not question:
            yield Question(_WHAT_IS_ASKED[language].format(topics=self._titles(language)))
            return
        chosen = topic_of(question, self._rules)
        call.record["topic"] = chosen
        if chosen is None:
            yield Text(_NOT_KNOWN[language].format(topics=self._titles(language)))
            yield Data({"topic": None, "answered": False, "topics": list(self._topics)})
            return
        topic = self._topics[chosen]
        count = asked_count(question)
        tasks = topic.tasks[: count or _DEFAULT_COUNT]
        yield Text(_heading(topic, tasks, language, counted=count is not None))
        for number, task in enumerate(tasks, start=1):
            yield Text(f"\n{number}. {_line(task, language)}")
        if count and count > len(tasks):
            yield Text("\n\n" + _FEWER[language].format(known=len(tasks), asked=count))
        yield Data(_data(topic, tasks, language, asked=count))

    def _titles(self, language: Language) -> str:
        return some_titles([topic.title.in_(language) for topic in self._topics.values()], language)


def _heading(topic: Topic, tasks: tuple[Task, ...], language: Language, *, counted: bool) -> str:
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


def _data(topic: Topic, tasks: tuple[Task, ...], language: Language, *, asked: int | None) -> dict[str, Any]:
    return {
        "topic": topic.id,
        "answered": True,
        "asked": asked,
        "tasks": [
            {"title": task.title(language), "description": task.description(language)} for task in tasks
        ],
    }
