"""The texts of this agent for people, in English and Japanese, and the failures of its tools."""

from enum import StrEnum
from typing import Any, NamedTuple

from a2a_hub.tasks.text_only import UiTexts
from a2a_hub.text.language import Language


class Text(NamedTuple):
    """A text in both languages, with places for values."""

    en: str
    ja: str

    def render(self, language: Language, **values: Any) -> str:
        """Return the text in one language, with the values in their places."""
        return self.translations[language].format(**values)

    @property
    def translations(self) -> dict[Language, str]:
        """The text in each language."""
        return {Language.EN: self.en, Language.JA: self.ja}


AGENT_NAME = Text(en="Development agent", ja="開発ツール")
_EXAMPLES_EN = (
    "- List the files in src\n- Read README.md\n- Search for “TODO” in src\n- Create notes.txt with the content “hello”\n"
    "- Replace “foo” with “bar” in notes.txt\n- Run pytest -q"
)
_EXAMPLES_JA = (
    "・src にあるファイルの一覧を見せて\n・README.md を読んで\n・src で「TODO」を検索して\n"
    "・notes.txt を「こんにちは」という内容で作成して\n・notes.txt の「foo」を「bar」に置き換えて\n・pytest -q を実行して"
)
ONCE = Text(en="Allow Once", ja="今回のみ許可")
ALWAYS = Text(en="Allow Always", ja="常に許可")
ALWAYS_THIS_COMMAND = Text(
    en="In this conversation: this very command.", ja="この会話の間、このコマンドだけを許可します。"
)
ALWAYS_THESE_FILES = Text(
    en="In this conversation: changes of {files}", ja="この会話の間、{files} の変更を許可します。"
)
CANCEL = Text(en="Cancel", ja="キャンセル")
CREATED = Text(en="“{path}” was created.", ja="「{path}」を作成しました。")
CHANGED = Text(en="“{path}” was changed.", ja="「{path}」を変更しました。")
RAN = Text(en="“{command}” ended successfully.\n\n{output}", ja="「{command}」は正常に終了しました。\n\n{output}")
RAN_SILENTLY = Text(
    en="“{command}” ended successfully, without any output.", ja="「{command}」は正常に終了しました。出力はありません。"
)
EMPTY_FILE = Text(en="“{path}” is empty.", ja="「{path}」は空です。")
CANCELLED = Text(en="Cancelled: nothing was done.", ja="キャンセルしました。何も実行していません。")
STILL_WAITING = Text(
    en="A step still waits for your decision, and nothing else is done before: choose one of its options.",
    ja="確認待ちの操作があります。先に選択肢から一つお選びください。それまでほかの操作は行いません。",
)
ASKED_AGAIN = Text(
    en="“{path}” has changed since the difference was shown, so nothing was written. This is the new difference.",
    ja="差分を表示した後に「{path}」が変更されたため、書き込んでいません。新しい差分をご確認ください。",
)
HELP = Text(
    en="I list, read and search the files of a workspace, change them, and run commands; every change and every command "
    f"is shown first, and done when you have confirmed it. You can say, for example:\n{_EXAMPLES_EN}\n\n"
    "Commands:\n{commands}",
    ja="ワークスペースのファイルの一覧・閲覧・検索・変更と、コマンドの実行ができます。変更とコマンドは、先に内容を表示し、"
    f"確認をいただいてから実行します。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\nコマンド：\n{{commands}}",
)
EMPTY_REQUEST = Text(
    en=f"What can I do? You can say, for example:\n{_EXAMPLES_EN}",
    ja=f"何をしましょうか。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}",
)
NOT_UNDERSTOOD = Text(
    en=f"I did not understand that, and nothing was done. You can say, for example:\n{_EXAMPLES_EN}\n\n"
    "One step at a time; quote texts and names that hold blanks. “/help” shows everything.",
    ja=f"ご依頼を理解できませんでした。何も実行していません。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\n"
    "一度に一つの操作をお願いします。文字列や空白を含む名前は「」で囲んでください。「/help」で一覧を表示します。",
)
UNKNOWN_COMMAND = Text(
    en="There is no command “/{command}”. There are:\n{usages}",
    ja="「/{command}」というコマンドはありません。使えるコマンド：\n{usages}",
)
WRONG_ARGUMENTS = Text(
    en="“/{command}” is written like this:\n{usages}", ja="「/{command}」は次のように入力してください。\n{usages}"
)
NO_WORKSPACE = Text(
    en="No workspace is set up here: a client names one in its AgentSettings, or an administrator sets "
    "DEVTOOL_DEFAULT_WORKSPACE.",
    ja="ワークスペースが設定されていません。クライアントが AgentSettings で指定するか、管理者が "
    "DEVTOOL_DEFAULT_WORKSPACE を設定してください。",
)
FAILED = Text(
    en="Something went wrong on my side, and the work has ended. Please try again; the reference is {reference}.",
    ja="内部で問題が発生し、作業を終了しました。もう一度お試しください。参照番号：{reference}",
)
STILL_WORKING = Text(en="This takes a while; the work continues.", ja="時間がかかっていますが、処理は続いています。")
STORE_AWAY = Text(
    en="What waits for a confirmation has to be stored, and the store cannot be reached at the moment. "
    "Nothing was done; please send it again in a minute.",
    ja="確認待ちの作業は保存する必要がありますが、現在、保存先に接続できません。"
    "何も実行していません。1分ほどしてから、もう一度お送りください。",
)
WITHOUT_ANSWER = Text(en="The work has ended without an answer.", ja="作業は終了しましたが、回答はありませんでした。")
CANCELED = Text(en="This task was canceled before it was done.", ja="このタスクは完了前に中止されました。")
# It has no commands for tasks, and asks no other agent.
TASK_TEXTS = UiTexts(
    still_working=STILL_WORKING.translations,
    waits_for_worker=STILL_WORKING.translations,
    unnumbered=STILL_WORKING.translations,
    store_away=STORE_AWAY.translations,
    without_answer=WITHOUT_ANSWER.translations,
    canceled=CANCELED.translations,
    trying_again=dict.fromkeys(Language, "{reason}"),
)


class Fault(StrEnum):
    """The reason of a failure; its value is the error's type on the wire."""

    OUTSIDE = "outside_workspace"
    NOT_FOUND = "file_not_found"
    NOT_A_FILE = "not_a_file"
    A_FOLDER = "is_a_folder"
    NOT_A_FOLDER = "not_a_folder"
    TOO_LARGE = "file_too_large"
    NOT_TEXT = "not_a_text_file"
    NOT_ALLOWED = "permission_denied"
    PROTECTED = "protected_file"
    NO_SPACE = "no_space_left"
    UNUSABLE = "file_error"
    TEXT_NOT_FOUND = "text_not_found"
    NOTHING_TO_CHANGE = "nothing_to_change"
    CHANGED = "file_changed"
    NO_COMMANDS = "commands_not_configured"
    PROGRAM = "program_not_allowed"
    SHELL = "shell_syntax"
    NOT_A_COMMAND = "invalid_command"
    NOT_STARTED = "command_not_started"
    TIMEOUT = "command_timed_out"
    EXIT = "command_failed"
    INTERRUPTED = "interrupted"


class ToolFailed(Exception):
    """A failed tool call. `values`, the caller's words or numbers, fill the sentence of the fault; `output` is the program's."""

    def __init__(self, fault: Fault, *, status_code: int | None = None, output: str = "", **values: Any) -> None:
        super().__init__(fault)
        self.fault = fault
        self.status_code = status_code
        self.output = output
        self.values = values

    def text(self, language: Language) -> str:
        """Return what happened and what to do, in one or two sentences, with the output of the program."""
        sentence = _SENTENCES[self.fault][language].format(**self.values)
        # Names of files may hold characters that no answer can carry.
        sentence = sentence.encode("utf-8", "replace").decode()
        return f"{sentence}\n\n{self.output}" if self.output else sentence


_EN, _JA = Language.EN, Language.JA
_SENTENCES = {
    Fault.OUTSIDE: {
        _EN: "“{path}” is outside the workspace; I only work on files inside it.",
        _JA: "「{path}」はワークスペースの外にあります。扱えるのはワークスペース内のファイルだけです。",
    },
    Fault.NOT_FOUND: {
        _EN: "There is no “{path}” in the workspace. “/files” shows what there is.",
        _JA: "ワークスペースに「{path}」はありません。「/files」で一覧を確認できます。",
    },
    Fault.NOT_A_FILE: {
        _EN: "“{path}” is not a regular file; I only read and change regular files.",
        _JA: "「{path}」は通常のファイルではありません。読み書きできるのは通常のファイルだけです。",
    },
    Fault.A_FOLDER: {
        _EN: "“{path}” is a folder. “/files {path}” lists its content.",
        _JA: "「{path}」はフォルダーです。「/files {path}」で中のファイルを一覧表示できます。",
    },
    Fault.NOT_A_FOLDER: {
        _EN: "“{path}” is not a folder. “/read {path}” shows a file.",
        _JA: "「{path}」はフォルダーではありません。ファイルの内容は「/read {path}」で表示できます。",
    },
    Fault.TOO_LARGE: {
        _EN: "“{path}” is larger than {limit} bytes, the most that I read or write as one file.",
        _JA: "「{path}」は{limit}バイトを超えます。一つのファイルとして読み書きできる上限です。",
    },
    Fault.NOT_TEXT: {
        _EN: "“{path}” is not UTF-8 text; I only read and change text.",
        _JA: "「{path}」はUTF-8のテキストではありません。扱えるのはテキストだけです。",
    },
    Fault.NOT_ALLOWED: {
        _EN: "The system does not let me do that with “{path}”: it may be read-only.",
        _JA: "「{path}」への操作はシステムに許可されていません。読み取り専用の可能性があります。",
    },
    Fault.PROTECTED: {
        _EN: "“{path}” is something that programs obey unasked, such as Git's records or a shell's settings; I do not "
        "change those.",
        _JA: "「{path}」は、Gitの管理情報やシェルの設定のように、プログラムが自動的に従うものです。変更は行いません。",
    },
    Fault.NO_SPACE: {
        _EN: "There is no space left to write “{path}”; nothing was changed.",
        _JA: "空き容量がないため「{path}」を書き込めません。何も変更していません。",
    },
    Fault.UNUSABLE: {
        _EN: "“{path}” could not be used: the system reports an error. Nothing was changed.",
        _JA: "システムのエラーにより「{path}」を扱えませんでした。何も変更していません。",
    },
    Fault.TEXT_NOT_FOUND: {
        _EN: "“{path}” does not hold the text that is to be replaced: “{text}”. Nothing was changed.",
        _JA: "「{path}」に置き換え対象の文字列「{text}」は見つかりません。何も変更していません。",
    },
    Fault.NOTHING_TO_CHANGE: {
        _EN: "“{path}” has exactly this content already; there is nothing to change.",
        _JA: "「{path}」はすでに同じ内容です。変更する箇所はありません。",
    },
    Fault.CHANGED: {
        _EN: "“{path}” has changed since the difference was shown, so nothing was written.",
        _JA: "差分を表示した後に「{path}」が変更されたため、書き込みませんでした。",
    },
    Fault.NO_COMMANDS: {
        _EN: "Running commands is not set up here: an administrator lists the programs that may run in DEVTOOL_COMMANDS.",
        _JA: "コマンドの実行は設定されていません。実行できるプログラムは、管理者が DEVTOOL_COMMANDS に設定します。",
    },
    Fault.PROGRAM: {
        _EN: "“{program}” is not among the programs that may run here: {programs}.",
        _JA: "「{program}」は実行できるプログラムに含まれていません。実行できるもの：{programs}",
    },
    Fault.SHELL: {
        _EN: "There is no shell here, so “{operator}” cannot be used: run one program with its arguments at a time.",
        _JA: "シェルは使わないため「{operator}」は使えません。一度に一つのプログラムを、引数とともに実行してください。",
    },
    Fault.NOT_A_COMMAND: {
        _EN: "This command cannot be run: check its quotes, and remove line breaks and control characters.",
        _JA: "実行できるコマンドではありません。引用符の対応を確認し、改行や制御文字を除いてください。",
    },
    Fault.NOT_STARTED: {_EN: "“{program}” could not be started.", _JA: "「{program}」を起動できませんでした。"},
    Fault.TIMEOUT: {
        _EN: "The command was stopped: it ran longer than {seconds:g} seconds.",
        _JA: "コマンドの実行が{seconds:g}秒を超えたため、停止しました。",
    },
    Fault.EXIT: {_EN: "The command ended with status {status}.", _JA: "コマンドは終了コード{status}で終了しました。"},
    Fault.INTERRUPTED: {
        _EN: "The work was interrupted, and it is not known how far it came. Check the state before you ask for it again.",
        _JA: "作業が中断されました。どこまで行われたかは分かりません。状態を確認してから、もう一度ご依頼ください。",
    },
}
