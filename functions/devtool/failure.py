"""Failures of tools, with a text for the person."""

from enum import StrEnum
from typing import Any

from a2a_hub.text.language import Language


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
        _EN: "“{path}” belongs to Git's own records; I do not change those.",
        _JA: "「{path}」はGitの管理情報です。変更は行いません。",
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
    Fault.NOT_STARTED: {
        _EN: "“{program}” could not be started.",
        _JA: "「{program}」を起動できませんでした。",
    },
    Fault.TIMEOUT: {
        _EN: "The command was stopped: it ran longer than {seconds:g} seconds.",
        _JA: "コマンドの実行が{seconds:g}秒を超えたため、停止しました。",
    },
    Fault.EXIT: {
        _EN: "The command ended with status {status}.",
        _JA: "コマンドは終了コード{status}で終了しました。",
    },
    Fault.INTERRUPTED: {
        _EN: "The work was interrupted, and it is not known how far it came. Check the state before you ask for it again.",
        _JA: "作業が中断されました。どこまで行われたかは分かりません。状態を確認してから、もう一度ご依頼ください。",
    },
}
