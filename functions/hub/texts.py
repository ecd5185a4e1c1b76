"""The hub's own texts for people, in English and Japanese. Never an exception, an address or a token."""

from collections.abc import Mapping, Sequence

from a2a_hub.a2a.model import Part, file_text
from a2a_hub.quota.limits import wait_text
from a2a_hub.routing.routes import Route
from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.language import Language
from functions.hub.failure import Failure, FailureKind

_EN, _JA = Language.EN, Language.JA

_WHAT: dict[FailureKind, dict[Language, str]] = {
    FailureKind.DOWN: {
        _EN: "The agent “{agent}” cannot be reached at the moment.",
        _JA: "エージェント「{agent}」に現在接続できません。",
    },
    FailureKind.SLOW: {
        _EN: "The agent “{agent}” did not answer in time.",
        _JA: "エージェント「{agent}」から時間内に回答がありませんでした。",
    },
    FailureKind.NOT_ALLOWED: {
        _EN: "The agent “{agent}” did not let the hub in.",
        _JA: "エージェント「{agent}」へのアクセスが許可されませんでした。",
    },
    FailureKind.NOT_PERMITTED: {
        _EN: "You may not use the agent “{agent}”.",
        _JA: "エージェント「{agent}」を利用する権限がありません。",
    },
    FailureKind.UNTASKED: {
        _EN: "The agent “{agent}” works on tasks, and this request cannot be kept as one.",
        _JA: "エージェント「{agent}」は保存されたタスクを処理しますが、この依頼はタスクとして保存できません。",
    },
    FailureKind.NOT_FOUND: {
        _EN: "The agent “{agent}” was not found where it should be.",
        _JA: "エージェント「{agent}」が所定の場所に見つかりませんでした。",
    },
    FailureKind.BUSY: {
        _EN: "The agent “{agent}” has too many requests at the moment.",
        _JA: "エージェント「{agent}」は現在混み合っています。",
    },
    FailureKind.BROKEN: {
        _EN: "The agent “{agent}” had a problem and gave no usable answer.",
        _JA: "エージェント「{agent}」で問題が発生し、有効な回答が得られませんでした。",
    },
    FailureKind.CUT: {
        _EN: "The answer from the agent “{agent}” broke off before it was complete.",
        _JA: "エージェント「{agent}」の回答が途中で途切れました。",
    },
    FailureKind.TOO_LARGE: {
        _EN: "The answer from the agent “{agent}” is too large to show.",
        _JA: "エージェント「{agent}」の回答が大きすぎて表示できません。",
    },
    FailureKind.LIMITED: {
        _EN: "The limit for requests to the agent “{agent}” is reached.",
        _JA: "エージェント「{agent}」の利用上限に達しました。",
    },
    FailureKind.RESTING: {
        _EN: "The agent “{agent}” has been failing, so your request was not sent to it. Its last failure: {last}",
        _JA: "エージェント「{agent}」で失敗が続いているため、依頼は送信していません。直前の失敗：{last}",
    },
    FailureKind.FAILED: {
        _EN: "The agent “{agent}” could not complete this request.",
        _JA: "エージェント「{agent}」はこの依頼を完了できませんでした。",
    },
    FailureKind.NOT_ACCEPTED: {
        _EN: "The agent “{agent}” did not accept this part of the request: {fields}.",
        _JA: "エージェント「{agent}」は依頼の次の部分を受け付けませんでした：{fields}。",
    },
    FailureKind.UNSAFE_REQUEST: {
        _EN: "The safety check stopped your message on its way to the agent “{agent}”.",
        _JA: "安全性の確認により、メッセージはエージェント「{agent}」に送信されませんでした。",
    },
    FailureKind.UNSAFE_ANSWER: {
        _EN: "The safety check held back the answer from the agent “{agent}”.",
        _JA: "安全性の確認により、エージェント「{agent}」の回答は表示されません。",
    },
    FailureKind.UNSCREENED: {
        _EN: "The safety check for the agent “{agent}” is not available at the moment, and nothing passes without it.",
        _JA: "エージェント「{agent}」の安全性を現在確認できないため、やり取りを中止しました。",
    },
    FailureKind.UNSCREENABLE: {
        _EN: "The safety check for the agent “{agent}” reads texts, PDF and Office documents; other files do not pass.",
        _JA: "「{agent}」の安全性の確認で読み取れるのは、テキスト・PDF・Office文書のみです。他のファイルは送受信できません。",
    },
    FailureKind.INTERNAL: {
        _EN: "Something went wrong in the hub while the agent “{agent}” was asked.",
        _JA: "エージェント「{agent}」への問い合わせ中に、ハブで問題が発生しました。",
    },
    FailureKind.UNROUTED: {
        _EN: "Something went wrong in the hub before your question reached an agent.",
        _JA: "ご質問をエージェントに取り次ぐ前に、ハブで問題が発生しました。",
    },
}
_RETRY = {
    _EN: "Please try again in a few minutes. If it keeps happening, tell your administrator this reference: {reference}",
    _JA: "数分後にもう一度お試しください。繰り返し発生する場合は、管理者に次の参照番号をお伝えください：{reference}",
}
_ADMINISTRATOR = {
    _EN: "Your administrator can fix this; please pass on this reference: {reference}",
    _JA: "管理者による対応が必要です。次の参照番号をお伝えください：{reference}",
}
_REPHRASE = {
    _EN: "Please ask in another way or for less at once. Reference: {reference}",
    _JA: "言い方を変えるか、範囲を絞ってもう一度お試しください。参照番号：{reference}",
}
_NOT_KEPT = {_EN: "Your answer to its question was not kept.", _JA: "質問への回答は保存されていません。"}
_IN_TIME = {
    _EN: "Please ask again in {wait}. Reference: {reference}",
    _JA: "{wait}ほどしてからもう一度お試しください。参照番号：{reference}",
}
_ACCESS = {
    _EN: "If you need it, ask your administrator for access. Reference: {reference}",
    _JA: "必要な場合は、管理者に利用権限を依頼してください。参照番号：{reference}",
}
_CORRECT = {
    _EN: "Please correct it and try again. Reference: {reference}",
    _JA: "修正してもう一度お試しください。参照番号：{reference}",
}
_OTHER_FILE = {
    _EN: "Please send it in another format. Reference: {reference}",
    _JA: "別の形式でお送りください。参照番号：{reference}",
}
_WHAT_TO_DO = {
    FailureKind.NOT_ACCEPTED: _CORRECT,
    FailureKind.NOT_PERMITTED: _ACCESS,
    FailureKind.NOT_ALLOWED: _ADMINISTRATOR,
    FailureKind.UNTASKED: _ADMINISTRATOR,
    FailureKind.NOT_FOUND: _ADMINISTRATOR,
    FailureKind.TOO_LARGE: _REPHRASE,
    FailureKind.FAILED: _REPHRASE,
    FailureKind.UNSAFE_REQUEST: _REPHRASE,
    FailureKind.UNSAFE_ANSWER: _REPHRASE,
    FailureKind.UNSCREENABLE: _OTHER_FILE,
    FailureKind.LIMITED: _IN_TIME,
}
EMPTY_MESSAGE = (
    "Your message contained no text, so there is nothing to answer yet. Please write your question.\n"
    "メッセージに文章が含まれていませんでした。ご質問を入力してください。"
)
_FILES = {
    _EN: "I see {files}, but no question. Please write what you want to know, and attach it again.",
    _JA: "{files}を受け取りましたが、ご質問がありません。ご質問を書いて、もう一度添付してください。",
}
FLAGGED = {
    _EN: "(The safety check has marked this conversation turn. Please read the answer with care.)",
    _JA: "(安全性の確認で注意が必要と判定されたやり取りです。回答の内容にご注意ください。)",
}
NO_ANSWER = {
    _EN: "The agent “{agent}” answered without any text.",
    _JA: "エージェント「{agent}」の回答には文章がありませんでした。",
}
QUESTION = {
    _EN: "The agent “{agent}” needs more information. Please add what is missing to your request.",
    _JA: "エージェント「{agent}」が追加の情報を求めています。依頼に足りない情報を入力してください。",
}
TASK_TEXTS = UiTexts(
    still_working={
        _EN: "This takes a while; the work continues. It is your task {number}: write “/task {number}” to see how far it is, "
        "or “/cancel {number}” to stop it.",
        _JA: "時間がかかっていますが、処理は続いています。タスク番号は{number}です。"
        "「/タスク {number}」で状況を確認でき、「/キャンセル {number}」で中止できます。",
    },
    unnumbered={
        _EN: "This takes a while; the work continues. Write “/tasks” in a few minutes to see how far it is.",
        _JA: "時間がかかっていますが、処理は続いています。数分後に「/タスク一覧」で状況を確認できます。",
    },
    waits_for_worker={
        _EN: "No worker has taken this yet; it is waiting for one. It is your task {number}: write “/task {number}” to see how "
        "far it is, or “/cancel {number}” to stop it.",
        _JA: "この依頼はワーカー待ちで、まだ処理は始まっていません。タスク番号は{number}です。"
        "「/タスク {number}」で状況を確認でき、「/キャンセル {number}」で中止できます。",
    },
    store_away={
        _EN: "This request becomes a task, and tasks cannot be stored at the moment, or not for certain. "
        "Please look at “/tasks” in a minute, and send it again if it is not there.",
        _JA: "この依頼はタスクとして保存する必要がありますが、現在、保存先に接続できないため、保存できたか確認できません。"
        "1分ほどしてから「/タスク一覧」をご覧になり、見当たらない場合はもう一度お送りください。",
    },
    trying_again={
        _EN: "{reason} The hub tries again in {seconds} s; there is nothing for you to do.",
        _JA: "{reason}{seconds}秒後に自動で再試行します。操作は必要ありません。",
    },
    without_answer={
        _EN: "The work has ended without an answer.",
        _JA: "作業は終了しましたが、回答はありませんでした。",
    },
    canceled={_EN: "This task was canceled before it was done.", _JA: "このタスクは完了前に中止されました。"},
)


def name_of(route: Route, language: Language) -> str:
    """Return the agent's name as users know it."""
    return route.name_ja if language is Language.JA else route.name


def agent_text(text: Mapping[Language, str], route: Route, language: Language, **values: object) -> str:
    """Return a text with the agent's name, and other values, in their places."""
    return text[language].format(agent=name_of(route, language), **values)


def failure_text(
    failure: Failure, route: Route | None, *, language: Language, reference: str, is_answer: bool = False
) -> str:
    """Return the agent (if there was one), the failure, what the user can do, and a reference; of an answer to a question of the
    agent, that it is not kept.
    """
    values = {"wait": wait_text(failure.seconds_to_wait or 0, language), "reference": reference}
    otherwise = _RETRY if failure.seconds_to_wait is None else _IN_TIME
    advice = [_WHAT_TO_DO.get(failure.opened_by or failure.kind, otherwise)]
    if is_answer and failure.retryable:
        advice.insert(0, _NOT_KEPT)
    sentences = [reason_text(failure, route, language), *(each[language].format(**values) for each in advice)]
    return (" " if language is Language.EN else "").join(sentences)


def reason_text(failure: Failure, route: Route | None, language: Language) -> str:
    """Return what happened; while the circuit is open, what happened last, too."""
    values = {"agent": name_of(route, language) if route else "", "fields": ", ".join(failure.fields)}
    values["last"] = _WHAT[failure.opened_by][language].format(**values) if failure.opened_by else ""
    return _WHAT[failure.kind][language].format(**values)


def files_alone_text(files: Sequence[Part]) -> str:
    """Return the answer to files without text that no agent takes so, in both languages."""
    names = ", ".join(map(file_text, files))
    return f"{_FILES[_EN].format(files=names)}\n{_FILES[_JA].format(files=names)}"
