"""What users read of work that nobody finished, in English and Japanese."""

from __future__ import annotations

from a2a_hub.a2a.model import Message, Role, Task
from a2a_hub.a2a.text import text_of
from a2a_hub.text.language import Language, language_of

_GIVEN_UP = {
    Language.EN: "The work on this task was begun {attempts} times and never finished, so it has been given up. "
    "Ask again later; if it happens again, tell the administrator.",
    Language.JA: "このタスクの処理は{attempts}回試みられましたが、一度も完了しなかったため打ち切りました。"
    "しばらくしてからもう一度お試しください。繰り返す場合は管理者にお知らせください。",
}
_NOT_TAKEN = {
    Language.EN: "Nobody has taken up this task for a long time, so it has been given up. "
    "Ask again if you still need it, and tell the administrator.",
    Language.JA: "このタスクは長い間だれにも引き受けられなかったため打ち切りました。"
    "まだ必要な場合はもう一度依頼し、管理者にもお知らせください。",
}


def given_up(task: Task, attempts: int) -> str:
    """Why the task failed."""
    return _GIVEN_UP[language_of(last_said(task))].format(attempts=attempts)


def not_taken(task: Task) -> str:
    """Why the task failed that nobody worked on."""
    return _NOT_TAKEN[language_of(last_said(task))]


def last_said(task: Task) -> str:
    """The text of the user's last message."""
    said: list[Message] = [message for message in task.history if message.role is Role.USER]
    return text_of(said[-1]) if said else ""
