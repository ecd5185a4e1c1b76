"""The texts of this agent for people, in English and Japanese."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from a2a_hub.a2a.model import Message, text_of
from a2a_hub.text.language import Language, language_of

NAME = "Development agent"
"""The agent's name in its card and in English texts."""
_NAME_JA = "開発ツール"


class Key(StrEnum):
    """The key of a text."""

    ONCE = "once"
    ALWAYS = "always"
    ALWAYS_MEANS = "always_means"
    CANCEL = "cancel"
    CREATED = "created"
    CHANGED = "changed"
    RAN = "ran"
    RAN_SILENTLY = "ran_silently"
    EMPTY_FILE = "empty_file"
    CANCELLED = "cancelled"
    STILL_WAITING = "still_waiting"
    ASKED_AGAIN = "asked_again"
    HELP = "help"
    EMPTY_REQUEST = "empty_request"
    NOT_UNDERSTOOD = "not_understood"
    UNKNOWN_COMMAND = "unknown_command"
    WRONG_ARGUMENTS = "wrong_arguments"
    NO_WORKSPACE = "no_workspace"
    WORKSPACE_GONE = "workspace_gone"
    FAILED = "failed"
    STILL_WORKING = "still_working"
    STORE_AWAY = "store_away"
    WITHOUT_ANSWER = "without_answer"


def agent_name(language: Language) -> str:
    """Return the agent's name in texts of this language."""
    return _NAME_JA if language is Language.JA else NAME


def render(key: Key, language: Language, **values: Any) -> str:
    """Return the text with the values in their places."""
    return _TEXTS[key][language].format(**values)


_EN, _JA = Language.EN, Language.JA
_EXAMPLES_EN = (
    "- List the files in src\n- Read README.md\n- Search for “TODO” in src\n- Create notes.txt with the content “hello”\n"
    "- Replace “foo” with “bar” in notes.txt\n- Run pytest -q"
)
_EXAMPLES_JA = (
    "・src にあるファイルの一覧を見せて\n・README.md を読んで\n・src で「TODO」を検索して\n"
    "・notes.txt を「こんにちは」という内容で作成して\n・notes.txt の「foo」を「bar」に置き換えて\n・pytest -q を実行して"
)
_TEXTS = {
    Key.ONCE: {_EN: "Allow Once", _JA: "今回のみ許可"},
    Key.ALWAYS: {_EN: "Allow Always", _JA: "常に許可"},
    Key.ALWAYS_MEANS: {
        _EN: "In this conversation: every change of a file, or this very command.",
        _JA: "この会話の間、ファイルの変更すべて、またはこのコマンドを許可します。",
    },
    Key.CANCEL: {_EN: "Cancel", _JA: "キャンセル"},
    Key.CREATED: {_EN: "“{path}” was created.", _JA: "「{path}」を作成しました。"},
    Key.CHANGED: {_EN: "“{path}” was changed.", _JA: "「{path}」を変更しました。"},
    Key.RAN: {
        _EN: "“{command}” ended successfully.\n\n{output}",
        _JA: "「{command}」は正常に終了しました。\n\n{output}",
    },
    Key.RAN_SILENTLY: {
        _EN: "“{command}” ended successfully, without any output.",
        _JA: "「{command}」は正常に終了しました。出力はありません。",
    },
    Key.EMPTY_FILE: {_EN: "“{path}” is empty.", _JA: "「{path}」は空です。"},
    Key.CANCELLED: {
        _EN: "Cancelled: nothing was done.",
        _JA: "キャンセルしました。何も実行していません。",
    },
    Key.STILL_WAITING: {
        _EN: "A step still waits for your decision, and nothing else is done before: choose one of its options.",
        _JA: "確認待ちの操作があります。先に選択肢から一つお選びください。それまでほかの操作は行いません。",
    },
    Key.ASKED_AGAIN: {
        _EN: "“{path}” has changed since the difference was shown, so nothing was written. This is the new difference.",
        _JA: "差分を表示した後に「{path}」が変更されたため、書き込んでいません。新しい差分をご確認ください。",
    },
    Key.HELP: {
        _EN: "I list, read and search the files of a workspace, change them, and run commands; every change and every command "
        f"is shown first, and done when you have confirmed it. You can say, for example:\n{_EXAMPLES_EN}\n\n"
        "Commands:\n{commands}",
        _JA: "ワークスペースのファイルの一覧・閲覧・検索・変更と、コマンドの実行ができます。変更とコマンドは、先に内容を表示し、"
        f"確認をいただいてから実行します。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\nコマンド：\n{{commands}}",
    },
    Key.EMPTY_REQUEST: {
        _EN: f"What can I do? You can say, for example:\n{_EXAMPLES_EN}",
        _JA: f"何をしましょうか。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}",
    },
    Key.NOT_UNDERSTOOD: {
        _EN: f"I did not understand that, and nothing was done. You can say, for example:\n{_EXAMPLES_EN}\n\n"
        "One step at a time; quote texts and names that hold blanks. “/help” shows everything.",
        _JA: f"ご依頼を理解できませんでした。何も実行していません。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\n"
        "一度に一つの操作をお願いします。文字列や空白を含む名前は「」で囲んでください。「/help」で一覧を表示します。",
    },
    Key.UNKNOWN_COMMAND: {
        _EN: "There is no command “/{command}”. There are:\n{usages}",
        _JA: "「/{command}」というコマンドはありません。使えるコマンド：\n{usages}",
    },
    Key.WRONG_ARGUMENTS: {
        _EN: "“/{command}” is written like this:\n{usages}",
        _JA: "「/{command}」は次のように入力してください。\n{usages}",
    },
    Key.NO_WORKSPACE: {
        _EN: "No workspace is set up here: a client names one in its AgentSettings, or an administrator sets "
        "DEVTOOL_DEFAULT_WORKSPACE.",
        _JA: "ワークスペースが設定されていません。クライアントが AgentSettings で指定するか、管理者が "
        "DEVTOOL_DEFAULT_WORKSPACE を設定してください。",
    },
    Key.WORKSPACE_GONE: {
        _EN: "The workspace of this task can no longer be worked in; nothing was done. Start again with another one.",
        _JA: "このタスクのワークスペースは使えなくなりました。何も実行していません。別のワークスペースでやり直してください。",
    },
    Key.FAILED: {
        _EN: "Something went wrong on my side, and the work has ended. Please try again; the reference is {reference}.",
        _JA: "内部で問題が発生し、作業を終了しました。もう一度お試しください。参照番号：{reference}",
    },
    Key.STILL_WORKING: {
        _EN: "This takes a while; the work continues.",
        _JA: "時間がかかっていますが、処理は続いています。",
    },
    Key.STORE_AWAY: {
        _EN: "What waits for a confirmation has to be stored, and the store cannot be reached at the moment. "
        "Nothing was done; please send it again in a minute.",
        _JA: "確認待ちの作業は保存する必要がありますが、現在、保存先に接続できません。"
        "何も実行していません。1分ほどしてから、もう一度お送りください。",
    },
    Key.WITHOUT_ANSWER: {
        _EN: "The work has ended without an answer.",
        _JA: "作業は終了しましたが、回答はありませんでした。",
    },
}


class StoredTexts:
    """See `a2a_hub.tasks.text_only.UiTexts`."""

    def still_working(self, message: Message, number: int | None) -> str:  # noqa: ARG002 - the protocol's
        """See `UiTexts.still_working`."""
        return render(Key.STILL_WORKING, language_of(text_of(message)))

    def store_away(self, message: Message) -> str:
        """See `UiTexts.store_away`."""
        return render(Key.STORE_AWAY, language_of(text_of(message)))

    def without_answer(self, message: Message) -> str:
        """See `UiTexts.without_answer`."""
        return render(Key.WITHOUT_ANSWER, language_of(text_of(message)))
