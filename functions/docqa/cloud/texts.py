"""Texts for end users when documents on Google Cloud cannot be searched or read, in English and Japanese."""

from __future__ import annotations

from collections.abc import Sequence

from functions.docqa.cloud.failure import Cause, Step
from functions.docqa.model import Unverified

_LONGEST_QUOTE = 300
_MAX_NAMED = 3

_NO_SEARCH = {
    "en": "I could not search the documents: {why} So I cannot answer this question. {then}",
    "ja": "文書を検索できませんでした。{why}そのため、この質問への回答を控えます。{then}",
}
_UNVERIFIED = {
    "en": "I found documents that may answer this, but the evidence could not be read: {why} "
    "So I would rather not answer. The documents that the search found:",
    "ja": "回答になりそうな文書は見つかりましたが、根拠となる原文を読み取れませんでした。{why}"
    "そのため、回答を控えます。検索で見つかった文書は次のとおりです。",
}
_SERVICE = {
    Step.SEARCH: {"en": "search", "ja": "検索"},
    Step.SOURCE: {"en": "storage", "ja": "ストレージ"},
}
_NOT_SET_UP = {
    "en": "the {service} service is not set up correctly for the document service.",
    "ja": "文書サービスから{service}サービスを利用するための設定に問題があります。",
}
_AWAY = {
    "en": "the {service} service is not available at the moment.",
    "ja": "現在、{service}サービスを利用できません。",
}
_UNREADABLE = {
    "en": "the source document is too large, or has no text that can be read (it may be encrypted, empty or damaged).",
    "ja": "原文が大きすぎるか、文字を読み取れません（暗号化、空、または破損の可能性があります）。",
}
_CHANGED = {
    "en": "the source document has changed since it was indexed, or is gone.",
    "ja": "索引の作成後に原文が変更または削除されています。",
}
_WHY = {
    **dict.fromkeys((Cause.NO_CREDENTIALS, Cause.API_DISABLED, Cause.REJECTED), _NOT_SET_UP),
    **dict.fromkeys((Cause.QUOTA, Cause.UNREACHABLE, Cause.TIMEOUT, Cause.BROKEN), _AWAY),
    **dict.fromkeys((Cause.TOO_LARGE, Cause.UNREADABLE), _UNREADABLE),
    Cause.CHANGED: _CHANGED,
    Cause.NOT_SIGNED_IN: {
        "en": "it shows each person only what they may read, and your sign-in did not come with the question.",
        "ja": "検索は本人が閲覧できる文書だけを対象としますが、ご質問にサインイン情報が添えられていませんでした。",
    },
}
_WHY_OF_STEP = {
    (Step.SEARCH, Cause.DENIED): {"en": "the search is not permitted.", "ja": "検索の権限がありません。"},
    (Step.SOURCE, Cause.DENIED): {
        "en": "the document service is not allowed to open the source documents.",
        "ja": "文書サービスに原文を開く権限がありません。",
    },
    (Step.SEARCH, Cause.NOT_FOUND): _NOT_SET_UP,
    (Step.SOURCE, Cause.NOT_FOUND): _CHANGED,
}
_OTHERS_UNREAD = {
    "en": "\n\n{number} more of the documents found could not be opened, so a newer or further rule may be missing here.",
    "ja": "\n\n検索で見つかった文書のうち{number}件は開けませんでした。"
    "より新しい規定や関連する規定が漏れている可能性があります。",
}
_AS_INDEXED = {
    "en": "\n\nPages that are not in Cloud Storage are quoted as the search has them; the page itself may have changed since.",
    "ja": "\n\nCloud Storage以外のページは、検索の索引にある内容を引用しています。その後ページが変更されている可能性があります。",
}
_SIGN_IN = {
    "en": "Please sign in again, or grant the agent access to your documents when it asks.",
    "ja": "もう一度サインインするか、エージェントから求められた際に文書へのアクセスを許可してください。",
}
_LATER = {
    "en": "Please try again in a few minutes.",
    "ja": "数分後にもう一度お試しください。",
}
_ADMINISTRATOR = {
    "en": "Your administrator can fix this.",
    "ja": "管理者による対応が必要です。",
}
_PASSES = frozenset({Cause.QUOTA, Cause.UNREACHABLE, Cause.TIMEOUT, Cause.BROKEN})


def search_failed(cause: Cause, language: str) -> str:
    """Return why there was no search, and what to do."""
    return _NO_SEARCH[language].format(why=_why(Step.SEARCH, cause, language), then=_then(cause, language))


def unverified(cause: Cause, results: Sequence[Unverified], language: str) -> str:
    """Return why the evidence could not be read, and the titles of the documents found, whose content was not verified."""
    titles = list(dict.fromkeys(result.title for result in results))[:_MAX_NAMED]
    reason = _UNVERIFIED[language].format(why=_why(Step.SOURCE, cause, language))
    return "\n".join([reason, *(f"- {title}" for title in titles), _then(cause, language)])


def others_unread(number: int, language: str) -> str:
    """Return the note on an answer that other documents could not be read."""
    return _OTHERS_UNREAD[language].format(number=number)


def as_indexed(language: str) -> str:
    """Return the note on quotes that were not compared with a source."""
    return _AS_INDEXED[language]


def shortened(text: str) -> str:
    """Return at most 300 characters of a text, in one line."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


def _why(step: Step, cause: Cause, language: str) -> str:
    return (_WHY_OF_STEP.get((step, cause)) or _WHY[cause])[language].format(service=_SERVICE[step][language])


def _then(cause: Cause, language: str) -> str:
    if cause is Cause.NOT_SIGNED_IN:
        return _SIGN_IN[language]
    return (_LATER if cause in _PASSES else _ADMINISTRATOR)[language]
