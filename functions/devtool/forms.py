"""The requests that are understood without a model (docs/development-tool.md)."""

import re

from functions.devtool import actions, slash_commands
from functions.devtool.actions import AnyAction
from functions.devtool.slash_commands import Help, Wrong

_FENCED = r"```[^\n]*\n(?s:.*?)```"
_QUOTED = r"""(?:“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|`[^`\n]*`|"[^"]*"|'[^']*')"""
_WORD = r"[^\s“”‘’「」『』`\"']{1,200}?"
_ASCII = r"[!#-&(-_a-~]{1,200}?"
# A word that looks like the name of a file: "open the door" reads nothing.
_FILE = rf"(?P<path>{_QUOTED}|(?=\S*[./]){_WORD}|(?-i:[A-Z]){_WORD})"
_PATH = rf"(?P<path>{_QUOTED}|{_WORD})"
_CONTENT = rf"(?P<content>{_FENCED}|{_QUOTED})"
_IN_EN = rf"(?: in (?:(?:the|my|this) (?:workspace|project)|(?:the )?(?:folder |directory )?{_PATH}))?"
_IN_JA = rf"(?:(?:ワークスペース|プロジェクト|この|{_PATH}) ?(?:フォルダー?)?(?:の中)?"

_TEXT_EN = rf"{_QUOTED}|{_WORD}"
_TEXT_JA = rf"{_QUOTED}|{_ASCII}"
_ENGLISH = (
    (Help, "help|what can you do"),
    (actions.ListFiles, rf"(?:list|show)(?: me)?(?: all)?(?: the)? files{_IN_EN}"),
    (actions.ListFiles, rf"ls(?: (?P<path>{_ASCII}))?"),
    (actions.ReadFile, rf"(?:read|open|show)(?: me)?(?: the file)? {_FILE}"),
    (actions.SearchText, rf"find (?P<text>{_QUOTED}){_IN_EN}"),
    (actions.SearchText, rf"(?:search for|grep) (?P<text>{_TEXT_EN}){_IN_EN}"),
    (
        actions.WriteFile,
        rf"(?:create|write) (?:a file )?{_PATH} with (?:(?:the )?(?:following )?(?:content|text):?\s)?{_CONTENT}",
    ),
    (actions.WriteFile, rf"(?:write|save) {_CONTENT} (?:to|as) {_PATH}"),
    (actions.Replace, rf"replace (?P<old_text>{_TEXT_EN}) with (?P<new_text>{_TEXT_EN}) in {_PATH}"),
    (actions.RunCommand, rf"(?:run|execute) (?P<command>{_QUOTED})"),
)
_JAPANESE = (
    (Help, "ヘルプ|使い方(?:を教えて)?|何ができますか"),
    (actions.ListFiles, rf"{_IN_JA}(?:の|にある) ?)?ファイルの?一覧(?:を(?:見せて|表示して|教えて))?"),
    (actions.ListFiles, rf"{_IN_JA}(?:の|にある) ?)?ファイルを一覧(?:に|表示)して"),
    (actions.ReadFile, rf"{_FILE} ?(?:の(?:内容|中身))?を ?(?:読んで|開いて|見せて|表示して|教えて)"),
    (actions.SearchText, rf"{_IN_JA}(?:で|から) ?)?(?P<text>{_TEXT_JA}) ?を ?(?:検索して|探して)"),
    (actions.WriteFile, rf"{_PATH} ?を ?{_CONTENT} ?という内容で ?(?:作成|保存|上書き)して"),
    (actions.WriteFile, rf"{_CONTENT} ?を ?{_PATH} ?に ?(?:書いて|書き込んで)"),
    (actions.WriteFile, rf"{_PATH} ?に ?{_CONTENT} ?と ?(?:書いて|書き込んで)"),
    (
        actions.Replace,
        rf"{_PATH} ?の ?(?P<old_text>{_TEXT_JA}) ?を ?(?P<new_text>{_TEXT_JA}) ?に ?(?:置き換えて|置換して|変更して)",
    ),
    (actions.RunCommand, rf"(?:コマンド ?)?(?P<command>{_QUOTED}|[!-~][ -~]*?) ?を ?実行して"),
)
# A full stop may be an argument here.
_RUN = re.compile(
    r"(?:please )?(?:run|execute) (?P<command>(?!(?:the|an?|my|our|all|it|this|that|them)\b).+?)(?:,? please)?",
    re.IGNORECASE,
)
_FORMS = [
    (kind, re.compile(rf"(?:please )?(?:{form})(?:,? please|ください|下さい)?[ .!?。．！？]*", re.IGNORECASE))
    for kind, form in (*_ENGLISH, *_JAPANESE)
]


def understood(text: str) -> AnyAction | Help | Wrong | None:
    """Return the action that the whole text asks for; None if it has no known form: nothing is guessed."""
    text = text.strip()
    if text.startswith(("/", "／")) and not text.startswith("//"):
        return slash_commands.found(text)
    for kind, form in _FORMS:
        if match := form.fullmatch(text):
            return kind(**{name: _value(words) for name, words in match.groupdict().items() if words})
    match = _RUN.fullmatch(text)
    return actions.RunCommand(command=match["command"]) if match else None


def _value(words: str) -> str:
    """Return what a quoted text says; other words as they are."""
    if words.startswith("```"):
        return words[words.index("\n") + 1 : -3]
    return words[1:-1] if re.fullmatch(_QUOTED, words) else words
