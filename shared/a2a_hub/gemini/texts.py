"""What end users read when a model gives no answer, in English and Japanese."""

from __future__ import annotations

from a2a_hub.gemini.failure import Cause
from a2a_hub.text.language import Language

_WHY = {
    Cause.NO_CREDENTIALS: (
        "I have no valid credentials for the language model.",
        "言語モデルを利用するための有効な認証情報がありません。",
    ),
    Cause.DENIED: (
        "I am not allowed to use the language model.",
        "言語モデルを利用する権限がありません。",
    ),
    Cause.API_DISABLED: (
        "The language model's service is not enabled for this project.",
        "このプロジェクトで言語モデルのサービスが有効になっていません。",
    ),
    Cause.NOT_FOUND: (
        "The language model that I am set to use does not exist, or not in this region.",
        "設定されている言語モデルが存在しないか、このリージョンでは利用できません。",
    ),
    Cause.REJECTED: (
        "The language model did not accept the request.",
        "言語モデルが要求を受け付けませんでした。",
    ),
    Cause.QUOTA: (
        "The language model has reached its limit of requests for the moment.",
        "言語モデルが現在、利用上限に達しています。",
    ),
    Cause.OVERLOADED: (
        "The language model's service has a problem at the moment.",
        "言語モデルのサービスで現在、問題が発生しています。",
    ),
    Cause.UNREACHABLE: (
        "The language model cannot be reached at the moment.",
        "現在、言語モデルに接続できません。",
    ),
    Cause.TIMEOUT: (
        "The language model did not finish its answer in time.",
        "言語モデルの回答が時間内に完了しませんでした。",
    ),
    Cause.STALLED: (
        "The language model stopped sending.",
        "言語モデルからの送信が途絶えました。",
    ),
    Cause.CUT: (
        "The connection to the language model was lost.",
        "言語モデルとの接続が切れました。",
    ),
    Cause.BROKEN: (
        "The language model ended in a way that I do not understand.",
        "言語モデルが想定外の形で終了しました。",
    ),
    Cause.EMPTY: (
        "The language model answered nothing.",
        "言語モデルから回答がありませんでした。",
    ),
    Cause.QUESTION_BLOCKED: (
        "The language model's safety rules did not let this question through.",
        "言語モデルの安全基準により、この質問には回答できません。",
    ),
    Cause.ANSWER_BLOCKED: (
        "The language model's safety rules stopped its answer.",
        "言語モデルの安全基準により、回答が中止されました。",
    ),
    Cause.RECITATION: (
        "The language model stopped, because its answer came too close to a published text.",
        "回答が公開済みの文章に近すぎるため、言語モデルが回答を中止しました。",
    ),
    Cause.CANCELLED: ("The question was withdrawn.", "質問が取り消されました。"),
}
_REPHRASE = ("Please put the question in other words.", "別の言葉でご質問ください。")
_SHORTEN = ("Please ask a shorter question.", "質問を短くしてお試しください。")
_LATER = ("Please try again in a few minutes.", "数分後にもう一度お試しください。")
_ADMINISTRATOR = ("Your administrator can fix this.", "管理者による対応が必要です。")
_THEN = {
    **dict.fromkeys(
        (Cause.NO_CREDENTIALS, Cause.DENIED, Cause.API_DISABLED, Cause.NOT_FOUND), _ADMINISTRATOR
    ),
    **dict.fromkeys((Cause.EMPTY, Cause.QUESTION_BLOCKED, Cause.ANSWER_BLOCKED, Cause.RECITATION), _REPHRASE),
    Cause.REJECTED: _SHORTEN,
}
_NO_ANSWER = ("I could not answer this question.", "この質問に回答できませんでした。")
_BROKEN_OFF = ("The answer above is not complete.", "上の回答は途中までです。")
_CUT_SHORT = (
    "(The answer was cut off here, at the longest length that is allowed. Ask for the rest, or for a shorter answer.)",
    "（回答が長さの上限に達したため、ここで打ち切られました。続きを尋ねるか、短い回答をお求めください。）",
)
_WAITING = ("The language model is busy; trying again", "言語モデルが混み合っているため、再試行しています")


def failed(cause: Cause, language: Language, *, is_begun: bool) -> str:
    """What happened and what to do; `is_begun` says that a part of the answer stands above."""
    what = _BROKEN_OFF if is_begun else _NO_ANSWER
    return _joined(language, what, _WHY[cause], _THEN.get(cause, _LATER))


def cut_short(language: Language) -> str:
    """The answer has reached the longest length."""
    return _CUT_SHORT[language is Language.JA]


def waiting(language: Language) -> str:
    """The model is asked again in a moment."""
    return _WAITING[language is Language.JA]


def _joined(language: Language, *sentences: tuple[str, str]) -> str:
    if language is Language.JA:
        return "".join(japanese for _, japanese in sentences)
    return " ".join(english for english, _ in sentences)
