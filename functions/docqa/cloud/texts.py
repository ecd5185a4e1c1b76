"""What end users read when documents on Google Cloud cannot be searched or read, in English and Japanese."""

from __future__ import annotations

from collections.abc import Sequence

from functions.docqa.cloud.failure import Cause
from functions.docqa.cloud.search import SearchResult

_LONGEST_QUOTE = 300
_MOST_QUOTED = 3

_NO_SEARCH = {
    "en": "I could not search the documents: {why} So I do not answer this question. {then}",
    "ja": "文書を検索できませんでした。{why}そのため、この質問への回答を控えます。{then}",
}
_SEARCH_WHY = {
    Cause.NO_CREDENTIALS: {
        "en": "the document service has no valid credentials for the search.",
        "ja": "文書サービスに検索のための有効な認証情報がありません。",
    },
    Cause.DENIED: {
        "en": "the document service is not allowed to use the search.",
        "ja": "文書サービスに検索の権限がありません。",
    },
    Cause.API_DISABLED: {
        "en": "the search service is not enabled for this project.",
        "ja": "このプロジェクトで検索サービスが有効になっていません。",
    },
    Cause.NOT_FOUND: {
        "en": "the document collection was not found where it should be.",
        "ja": "所定の場所に文書データストアが見つかりません。",
    },
    Cause.QUOTA: {
        "en": "the search has reached its limit of requests for the moment.",
        "ja": "検索の利用上限に達しています。",
    },
    Cause.UNREACHABLE: {
        "en": "the search service cannot be reached at the moment.",
        "ja": "現在、検索サービスに接続できません。",
    },
    Cause.TIMEOUT: {
        "en": "the search did not answer in time.",
        "ja": "検索が時間内に応答しませんでした。",
    },
    Cause.REJECTED: {
        "en": "the search did not accept the request.",
        "ja": "検索サービスが要求を受け付けませんでした。",
    },
    Cause.BROKEN: {
        "en": "the search service had a problem.",
        "ja": "検索サービスで問題が発生しました。",
    },
}
_NOTHING_FOUND = {
    "en": "The search found no document for this question, so I do not answer it. Please try other words, "
    "or ask your administrator whether the document has been added.",
    "ja": "この質問に該当する文書が検索で見つからなかったため、回答を控えます。"
    "別の言葉で試すか、文書が登録されているか管理者にご確認ください。",
}
_UNVERIFIED = {
    "en": "I found documents that may answer this, but the evidence could not be read: {why} "
    "So I cannot confirm an answer. What the search returned, unverified:",
    "ja": "回答になりそうな文書は見つかりましたが、根拠となる原文を読み取れませんでした。{why}"
    "そのため、回答を確認できません。検索結果（未確認）は次のとおりです。",
}
_SOURCE_WHY = {
    Cause.NO_CREDENTIALS: {
        "en": "the document service has no valid credentials for the source documents.",
        "ja": "文書サービスに原文を読むための有効な認証情報がありません。",
    },
    Cause.DENIED: {
        "en": "the document service is not allowed to open the source documents.",
        "ja": "文書サービスに原文を開く権限がありません。",
    },
    Cause.API_DISABLED: {
        "en": "the storage service is not enabled for this project.",
        "ja": "このプロジェクトでストレージサービスが有効になっていません。",
    },
    Cause.NOT_FOUND: {
        "en": "the source document is no longer there.",
        "ja": "原文の文書が既に存在しません。",
    },
    Cause.QUOTA: {
        "en": "the storage service has reached its limit of requests for the moment.",
        "ja": "ストレージの利用上限に達しています。",
    },
    Cause.UNREACHABLE: {
        "en": "the storage service cannot be reached at the moment.",
        "ja": "現在、ストレージサービスに接続できません。",
    },
    Cause.TIMEOUT: {
        "en": "the source documents did not arrive in time.",
        "ja": "原文を時間内に取得できませんでした。",
    },
    Cause.REJECTED: {
        "en": "the storage service did not accept the request.",
        "ja": "ストレージサービスが要求を受け付けませんでした。",
    },
    Cause.BROKEN: {
        "en": "the storage service had a problem.",
        "ja": "ストレージサービスで問題が発生しました。",
    },
    Cause.TOO_LARGE: {
        "en": "the source document is too large.",
        "ja": "原文の文書が大きすぎます。",
    },
    Cause.UNREADABLE: {
        "en": "the source document has no text that can be read (it may be encrypted, empty or damaged).",
        "ja": "原文から文字を読み取れません（暗号化、空、または破損の可能性があります）。",
    },
    Cause.CHANGED: {
        "en": "the source document was being replaced.",
        "ja": "原文の文書が差し替え中でした。",
    },
    Cause.NO_SOURCE: {
        "en": "the search named no source document that can be opened.",
        "ja": "検索結果に開ける原文がありません。",
    },
}
_OTHERS_UNREAD = {
    "en": "\n\n{number} more of the documents found could not be opened, so a newer or further rule may be missing here.",
    "ja": "\n\n検索で見つかった文書のうち{number}件は開けませんでした。"
    "より新しい規定や関連する規定が漏れている可能性があります。",
}
_LATER = {
    "en": "Please try again in a few minutes.",
    "ja": "数分後にもう一度お試しください。",
}
_ADMINISTRATOR = {
    "en": "Your administrator can fix this.",
    "ja": "管理者による対応が必要です。",
}
_PASSES = frozenset({Cause.QUOTA, Cause.UNREACHABLE, Cause.TIMEOUT, Cause.BROKEN, Cause.CHANGED})
_NO_TEXT = {"en": "(no text)", "ja": "（本文なし）"}


def search_failed(cause: Cause, language: str) -> str:
    """Why there was no search, and what to do."""
    why = _SEARCH_WHY.get(cause, _SEARCH_WHY[Cause.BROKEN])[language]
    return _NO_SEARCH[language].format(why=why, then=_then(cause, language))


def nothing_found(language: str) -> str:
    """The search works and returned no document."""
    return _NOTHING_FOUND[language]


def unverified(cause: Cause, results: Sequence[SearchResult], language: str) -> str:
    """Why the evidence could not be read, and what the search said, in quotation marks: it is data, and nobody checked it."""
    lines = [_UNVERIFIED[language].format(why=_SOURCE_WHY[cause][language])]
    for result in results[:_MOST_QUOTED]:
        said = shortened(result.texts[0]) if result.texts else _NO_TEXT[language]
        quoted = f"“{said}” — {result.title}" if language == "en" else f"「{said}」（{result.title}）"
        lines.append(f"- {quoted}" if result.texts else f"- {said} {result.title}")
    return "\n".join([*lines, _then(cause, language)])


def others_unread(number: int, language: str) -> str:
    """What is added to a grounded answer: evidence stands for what it says, not for what could not be read."""
    return _OTHERS_UNREAD[language].format(number=number)


def shortened(text: str) -> str:
    """At most 300 characters."""
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


def _then(cause: Cause, language: str) -> str:
    return (_LATER if cause in _PASSES else _ADMINISTRATOR)[language]
