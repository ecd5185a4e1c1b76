"""What people read of this agent, in English and Japanese."""

from __future__ import annotations

from shared.a2a.model import Message
from shared.a2a.text import text_of
from shared.language import Language, language_of

_STILL_WORKING = {
    Language.EN: "This takes a while; the work goes on.",
    Language.JA: "時間がかかっていますが、処理は続いています。",
}
_STORE_AWAY = {
    Language.EN: "What waits for a confirmation has to be stored, and the store cannot be reached at the moment. "
    "Nothing was done; please send it again in a minute.",
    Language.JA: "確認待ちの作業は保存する必要がありますが、現在、保存先に接続できません。"
    "何も実行していません。1分ほどしてから、もう一度お送りください。",
}
_WITHOUT_ANSWER = {
    Language.EN: "The work has ended without an answer.",
    Language.JA: "作業は終了しましたが、回答はありませんでした。",
}


class StoredTexts:
    """See `shared.tasks.ui.UiTexts`."""

    def still_working(self, message: Message, number: int | None) -> str:  # noqa: ARG002 - the seam's
        """See `UiTexts.still_working`."""
        return _STILL_WORKING[language_of(text_of(message))]

    def store_away(self, message: Message) -> str:
        """See `UiTexts.store_away`."""
        return _STORE_AWAY[language_of(text_of(message))]

    def without_answer(self, message: Message) -> str:
        """See `UiTexts.without_answer`."""
        return _WITHOUT_ANSWER[language_of(text_of(message))]
