"""What people read of tasks that go on, in English and Japanese."""

from __future__ import annotations

from shared.a2a.model import Message
from shared.a2a.text import text_of
from shared.language import Language, language_of

_STILL_WORKING = {
    Language.EN: "This takes a while; the work goes on. It is your task {number}: write “/task {number}” to see how far it is, "
    "or “/cancel {number}” to stop it.",
    Language.JA: "時間がかかっていますが、処理は続いています。タスク番号は{number}です。"
    "「/task {number}」で状況を確認でき、「/cancel {number}」で中止できます。",
}


class TaskTexts:
    """See `shared.tasks.ui.UiTexts`."""

    def still_working(self, message: Message, number: int | None) -> str:
        """See `UiTexts.still_working`."""
        return _STILL_WORKING[language_of(text_of(message))].format(number=number or "?")
