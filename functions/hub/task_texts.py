"""What people read of tasks that go on, in English and Japanese."""

from __future__ import annotations

from a2a_hub.a2a.model import Message
from a2a_hub.a2a.text import text_of
from a2a_hub.text.language import Language, language_of

_STILL_WORKING = {
    Language.EN: "This takes a while; the work goes on. It is your task {number}: write “/task {number}” to see how far it is, "
    "or “/cancel {number}” to stop it.",
    Language.JA: "時間がかかっていますが、処理は続いています。タスク番号は{number}です。"
    "「/task {number}」で状況を確認でき、「/cancel {number}」で中止できます。",
}
_STILL_WORKING_WITHOUT_NUMBER = {
    Language.EN: "This takes a while; the work goes on. Write “/tasks” in a few minutes to see how far it is.",
    Language.JA: "時間がかかっていますが、処理は続いています。数分後に「/タスク一覧」で状況を確認できます。",
}
_STORE_AWAY = {
    Language.EN: "This request becomes a task, and tasks cannot be stored at the moment, or not for certain. "
    "Please look at “/tasks” in a minute, and send it again if it is not there.",
    Language.JA: "この依頼はタスクとして保存する必要がありますが、現在、保存先に接続できないため、保存できたか確認できません。"
    "1分ほどしてから「/タスク一覧」をご覧になり、見当たらない場合はもう一度お送りください。",
}
_WITHOUT_ANSWER = {
    Language.EN: "The work has ended without an answer.",
    Language.JA: "作業は終了しましたが、回答はありませんでした。",
}


class TaskTexts:
    """See `a2a_hub.tasks.text_only.UiTexts`."""

    def still_working(self, message: Message, number: int | None) -> str:
        """See `UiTexts.still_working`."""
        language = language_of(text_of(message))
        if number is None:
            return _STILL_WORKING_WITHOUT_NUMBER[language]
        return _STILL_WORKING[language].format(number=number)

    def store_away(self, message: Message) -> str:
        """See `UiTexts.store_away`."""
        return _STORE_AWAY[language_of(text_of(message))]

    def without_answer(self, message: Message) -> str:
        """See `UiTexts.without_answer`."""
        return _WITHOUT_ANSWER[language_of(text_of(message))]
