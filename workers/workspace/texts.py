"""The worker's own texts, in English and Japanese."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from workers.workspace.failures import Cause, ModelCause

_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


class Language(StrEnum):
    """The language of a task."""

    EN = "en"
    JA = "ja"


@dataclass(frozen=True, kw_only=True)
class Texts:
    """The texts of one language: `asks` and `done` by kind of action, `labels` by name of a field."""

    asks: Mapping[str, str]
    labels: Mapping[str, str]
    done: Mapping[str, str]
    drafted: str
    event_created: str
    document_created: str
    mail_ready: str
    sending: str
    draft_missing: str
    not_allowed: str
    google: Mapping[Cause, str]
    model: Mapping[ModelCause, str]
    rest_not_done: str
    result_unknown: str
    too_long: str


_EN = Texts(
    asks={
        "mail": "Send this mail? Answer “yes”, and it is sent exactly so. Anything else, and it is not.",
        "calendar": (
            "Put this event into your calendar and invite these people? "
            "Answer “yes”, and it is done exactly so. Anything else, and it is not."
        ),
        "docs": (
            "Add this text to the end of this document? "
            "Answer “yes”, and it is done exactly so. Anything else, and it is not."
        ),
    },
    labels={
        "to": "To",
        "cc": "Cc",
        "subject": "Subject",
        "title": "Event",
        "start": "Start",
        "end": "End",
        "guests": "Guests",
        "place": "Place",
        "document": "Document",
        "id": "Id",
    },
    done={
        "mail": "Sent to {to}: “{subject}”",
        "calendar": "In the calendar, {start}: “{title}”; invited: {guests}",
        "docs": "Added to the document “{document}”",
    },
    drafted="Draft in Gmail: “{subject}”",
    event_created="In the calendar, {start}: “{title}”",
    document_created="New document “{title}”: {address}",
    mail_ready="The mail is ready (draft {draft}, thread {thread})",
    sending="It is being sent",
    draft_missing="The mail was not sent: its draft is no longer in Gmail. Ask again for a new one.",
    not_allowed="This worker may not do that: its operator has not allowed it (--may-write {kind}).",
    google={
        Cause.SETTING_UP: "This worker has no access to that part of Google Workspace yet; its log says what is missing.",
        Cause.NOT_ALLOWED: "Google does not allow this account to do that.",
        Cause.NOT_FOUND: "There is nothing like that, or this account may not see it.",
        Cause.CONFLICT: "Somebody else has changed it in the meantime.",
        Cause.INVALID: "Google cannot do that with what it was given.",
        Cause.BUSY: "Google is busy at the moment; try again in a few minutes.",
        Cause.UNREACHABLE: "Google cannot be reached at the moment; try again in a few minutes.",
        Cause.TOO_LARGE: "It is too large to be read here.",
    },
    model={
        ModelCause.SETTING_UP: "The language model of this worker is not set up; its log says what is missing.",
        ModelCause.BUSY: "The language model cannot be reached at the moment; try again in a few minutes.",
        ModelCause.REFUSED: "The language model gave no answer to this; say it in other words.",
        ModelCause.TOO_LONG: "This took too long; ask for a smaller part of it.",
        ModelCause.TOO_MANY_TURNS: "This took too many steps; ask for a smaller part of it.",
    },
    rest_not_done="The rest of your request has not been done.",
    result_unknown="It may or may not have been done: check before you ask again.",
    too_long="What you wrote is too long for this worker ({characters} characters; {most} are possible).",
)
_JA = Texts(
    asks={
        "mail": "このメールを送信しますか。「はい」と答えると、このとおりに送信します。それ以外の返事では送信しません。",
        "calendar": (
            "この予定をカレンダーに登録し、次の方を招待しますか。"
            "「はい」と答えると、このとおりに実行します。それ以外の返事では実行しません。"
        ),
        "docs": (
            "次の文章をこのドキュメントの末尾に追加しますか。"
            "「はい」と答えると、このとおりに実行します。それ以外の返事では実行しません。"
        ),
    },
    labels={
        "to": "宛先",
        "cc": "CC",
        "subject": "件名",
        "title": "予定",
        "start": "開始",
        "end": "終了",
        "guests": "招待者",
        "place": "場所",
        "document": "ドキュメント",
        "id": "ID",
    },
    done={
        "mail": "{to} に送信しました：「{subject}」",
        "calendar": "{start} の予定「{title}」を登録し、{guests} を招待しました",
        "docs": "ドキュメント「{document}」に追加しました",
    },
    drafted="Gmailの下書き：「{subject}」",
    event_created="{start} の予定「{title}」を登録しました",
    document_created="新しいドキュメント「{title}」：{address}",
    mail_ready="メールの用意ができました（下書き {draft}、スレッド {thread}）",
    sending="送信しています",
    draft_missing="メールは送信していません。下書きがGmailにありません。もう一度依頼していただければ、書き直します。",
    not_allowed="このワーカーには許可されていない操作です（管理者による --may-write {kind} の設定が必要です）。",
    google={
        Cause.SETTING_UP: "このワーカーには、この機能への権限がまだありません。足りないものはログに書かれています。",
        Cause.NOT_ALLOWED: "このアカウントには、その操作がGoogleで許可されていません。",
        Cause.NOT_FOUND: "見つからないか、このアカウントからは見えません。",
        Cause.CONFLICT: "その間にほかの人が変更しました。",
        Cause.INVALID: "渡された内容ではGoogleで実行できません。",
        Cause.BUSY: "Googleが混み合っています。数分後にもう一度お試しください。",
        Cause.UNREACHABLE: "Googleに接続できません。数分後にもう一度お試しください。",
        Cause.TOO_LARGE: "大きすぎて、ここでは読めません。",
    },
    model={
        ModelCause.SETTING_UP: "このワーカーの言語モデルが設定されていません。足りないものはログに書かれています。",
        ModelCause.BUSY: "言語モデルに接続できません。数分後にもう一度お試しください。",
        ModelCause.REFUSED: "言語モデルが回答しませんでした。別の言葉でお試しください。",
        ModelCause.TOO_LONG: "時間がかかりすぎました。範囲を小さくして依頼してください。",
        ModelCause.TOO_MANY_TURNS: "手順が多くなりすぎました。範囲を小さくして依頼してください。",
    },
    rest_not_done="ほかの依頼は実行していません。",
    result_unknown="実行されたかどうか確認できません。もう一度依頼する前にご確認ください。",
    too_long="文章が長すぎます（{characters}文字。{most}文字まで）。",
)


def texts_in(language: Language) -> Texts:
    """Return the texts of a language."""
    return _JA if language is Language.JA else _EN


def language_of(text: str) -> Language:
    """Return Japanese for a text with Japanese characters, else English."""
    return Language.JA if _JAPANESE.search(text) else Language.EN
