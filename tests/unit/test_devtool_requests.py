"""What the development agent makes of a text: the same requests in two languages and as commands, and nothing guessed."""

import re
from pathlib import Path

import pytest

from functions.devtool import forms
from functions.devtool.actions import (
    AddLine,
    AnyAction,
    ListFiles,
    ReadFile,
    Replace,
    RunCommand,
    SearchText,
    WriteFile,
)
from functions.devtool.forms import Help, InvalidCommand, parsed_request
from functions.devtool.texts import DEVTOOL_TEXTS

ROOT = Path(__file__).parents[2]
_CODE = "print('a')\n\nprint(\"b\")\n"
LISTS = {
    "list files": ".",
    "List the files in src": "src",
    "please show me all files": ".",
    "ls": ".",
    "ls src/": "src/",
    "list the files in the workspace": ".",
    "ファイルの一覧を見せて": ".",
    "ファイル一覧": ".",
    "ワークスペースのファイルを一覧にして": ".",
    "src のファイル一覧を表示してください": "src",
    "src にあるファイルを一覧表示してください": "src",
    "このフォルダのファイル一覧を教えて": ".",
    "ワークスペースにあるファイルを全部見せて": ".",
    "docs のファイルを教えてください": "docs",
    "What files are there in src?": "src",
    "Which files do we have?": ".",
    "List the files in the workspace.": ".",
    "ワークスペースのファイルの一覧を見せて": ".",
    "「設計 資料」のファイル一覧": "設計 資料",
    "/files": ".",
    "/files docs": "docs",
    "／files docs": "docs",
}
READS = {
    "Read README.md": "README.md",
    "read the file `my notes.txt`": "my notes.txt",
    "show me config.toml": "config.toml",
    "README.md を読んで": "README.md",
    "README.mdの内容を教えてください": "README.md",
    "「設計 メモ.txt」を開いて": "設計 メモ.txt",
    "設計の資料.md を読んでください。": "設計の資料.md",
    "/read my file.txt": "my file.txt",
    '/read "a b.txt"': "a b.txt",
    "メモ.txtを読んで": "メモ.txt",
    "README.md の内容は？": "README.md",
    "「設計 メモ.txt」の中身って何ですか": "設計 メモ.txt",
    "What's in README.md?": "README.md",
    "what is written in the file `my notes.txt`": "my notes.txt",
    "/memory show": "AGENTS.md",
}
SEARCHES = {
    "search for TODO in src": ("TODO", "src"),
    'search for "hello world"': ("hello world", "."),
    "find 'foo bar' in the folder docs": ("foo bar", "docs"),
    "grep TODO": ("TODO", "."),
    "「TODO」を検索して": ("TODO", "."),
    "src で「TODO」を検索してください": ("TODO", "src"),
    "src フォルダの中から TODO を探して": ("TODO", "src"),
    "/search hello world": ("hello world", "."),
}
WRITES = {
    "「こんにちは」を hello.txt に書いて": ("hello.txt", "こんにちは"),
    'create hello.txt with the content "hi there"': ("hello.txt", "hi there"),
    'write "abc" to notes/new.txt': ("notes/new.txt", "abc"),
    "save 'it is' as it.txt": ("it.txt", "it is"),
    "hello.txt を「こんにちは」という内容で作成して": ("hello.txt", "こんにちは"),
    "hello.txt に「こんにちは」と書き込んでください": ("hello.txt", "こんにちは"),
    "/write a.txt hello  world": ("a.txt", "hello  world"),
    "/write 'a b.txt' x": ("a b.txt", "x"),
    "write “” to a.txt": ("a.txt", ""),
    "/write a.py\nx = 1\ny = 2": ("a.py", "x = 1\ny = 2"),
}
REPLACES = {
    "replace 'foo' with 'bar' in notes.txt": ("notes.txt", "foo", "bar"),
    "replace 'foo' with '' in notes.txt": ("notes.txt", "foo", ""),
    "notes.txt の「foo」を「bar」に置き換えて": ("notes.txt", "foo", "bar"),
    "/replace a.txt 'b c' d": ("a.txt", "b c", "d"),
}
ADDS = {
    "/memory add use tabs": ("AGENTS.md", "- use tabs"),
}
RUNS = {
    "run pytest -q": "pytest -q",
    "Run `git status`.": "git status",
    "run git add .": "git add .",
    "please run echo 'hi there'": "echo 'hi there'",
    "run make test, please": "make test",
    "run echo 'in the workspace'": "echo 'in the workspace'",
    "pytest -q を実行して": "pytest -q",
    "「git status」を実行してください": "git status",
    "echo 'a b' を実行してください。": "echo 'a b'",
    "/run echo 'a  b'": "echo 'a  b'",
}
EXPECTED: dict[str, AnyAction] = {
    **{text: ListFiles(path=path) for text, path in LISTS.items()},
    **{text: ReadFile(path=path) for text, path in READS.items()},
    **{text: SearchText(text=what, path=path) for text, (what, path) in SEARCHES.items()},
    **{text: WriteFile(path=path, content=content) for text, (path, content) in WRITES.items()},
    **{text: Replace(path=path, old_text=old, new_text=new) for text, (path, old, new) in REPLACES.items()},
    **{text: AddLine(path=path, line=line) for text, (path, line) in ADDS.items()},
    **{text: RunCommand(command=command) for text, command in RUNS.items()},
}
NOT_UNDERSTOOD = (
    "hi",
    "foo bar",
    "delete everything",
    "don't run pytest",
    "do not read a.txt",
    "never write 'x' to a.txt",
    "run the tests",
    "run it",
    "read a.txt and then b.txt",
    "open the door",
    "look around for ever",
    "look nice",
    "find the bug",
    "find a solution in app.py",
    "Should I replace 'a' with 'b' in c.txt?",
    "he said: replace 'a' with 'b' in c.txt",
    "create hello.txt",
    "pytest を実行しないで",
    "README.md を読まないで",
    "notes.txt の「foo」を「bar」に置き換えないでください",
    "全部消して",
    "こんにちは",
    "hello.txt を作って",
    "a" * 1000,
)


@pytest.mark.parametrize("text", EXPECTED)
def test_a_request_is_understood_as_what_it_says(text: str) -> None:
    assert parsed_request(text) == EXPECTED[text]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_what_no_rule_knows_in_whole_is_not_understood(text: str) -> None:
    assert parsed_request(text) is None


@pytest.mark.parametrize("text", ["help", "What can you do?", "使い方を教えて", "何ができますか？", "/help", "ヘルプ"])
def test_help_is_asked_for_in_many_ways(text: str) -> None:
    assert isinstance(parsed_request(text), Help)


@pytest.mark.parametrize(
    "text",
    ["/", "/nothing", "/memory", "/memory x", "/read", "/replace a b", "/replace a 'b", "/write a", "/write 'a b"],
)
def test_a_command_that_is_wrong_is_told_what_would_be_right(text: str) -> None:
    wrong = parsed_request(text)
    assert isinstance(wrong, InvalidCommand)
    assert wrong.usages
    assert set(wrong.usages) <= set(forms.usages(forms.COMMANDS))


def test_every_command_that_is_shown_can_be_typed() -> None:
    for usage in forms.usages(forms.COMMANDS):
        words = usage.replace("[", "").replace("]", "").replace("<", "").replace(">", "")
        assert not isinstance(parsed_request(words), InvalidCommand), usage


@pytest.mark.parametrize(
    "text",
    [
        "please " * 70 + "x",
        "read " + "a" * 490,
        "search for " + "a " * 240,
        "「」" * 2000,
        "replace " + "a " * 200,
        "の" * 499,
        "docs の " * 80 + "を読んで",
        "in " * 160,
        "'" * 100_000,
        "```\n" * 20_000,
        "“" * 300_000,
        "「『" * 200_000,
        "` \n" * 100_000,
        "it's " * 100_000,
    ],
    ids=lambda text: text[:10],
)
def test_hostile_texts_are_no_requests(text: str) -> None:
    assert parsed_request(text) is None


def test_the_forms_that_people_are_shown_are_understood() -> None:
    documented = (ROOT / "docs/development-tool.md").read_text(encoding="utf-8").partition("### Without a model")[2]
    table = re.findall(r"^\| \w+ \| (.+) \| (.+) \|$", documented, re.MULTILINE)
    forms = [form for row in table for cell in row for form in cell.split(" · ")]
    examples = [line[1:].strip() for text in DEVTOOL_TEXTS.empty_request.values() for line in text.splitlines()[1:]]
    assert len(forms) > len(examples) > 10
    assert [form for form in (*forms, *examples) if parsed_request(form) is None] == []
