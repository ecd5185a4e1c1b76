"""What the development agent makes of a text: the same requests in two languages and as commands, and nothing guessed."""

import time

import pytest

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
from functions.devtool.asking import slash
from functions.devtool.asking.patterns import Help
from functions.devtool.asking.slash import Wrong
from functions.devtool.asking.understanding import understood

_CODE = "print('a')\n\nprint(\"b\")\n"
LISTS = {
    "list files": ".",
    "List the files in src": "src",
    "please show me all files": ".",
    "what files are there?": ".",
    "What is in the workspace?": ".",
    "what is there in my workspace": ".",
    "Which files are in src?": "src",
    "Can you list all the files here?": ".",
    "show me the directory listing": ".",
    "list the folder src": "src",
    "list everything in src": "src",
    "ls": ".",
    "ls src/": "src/",
    "list the files in the workspace": ".",
    "show the contents of the directory src": "src",
    "ファイルの一覧を見せて": ".",
    "ファイル一覧": ".",
    "ワークスペースのファイルを一覧にして": ".",
    "ワークスペースに何がある?": ".",
    "ファイルを全部見せて": ".",
    "ここには何が入っていますか": ".",
    "src のファイル一覧を表示してください": "src",
    "src にあるファイルを一覧表示してください": "src",
    "どんなファイルがありますか？": ".",
    "src フォルダの中にはどんなファイルがありますか": "src",
    "このフォルダのファイル一覧を教えて": ".",
    "List the files in the workspace.": ".",
    "ワークスペースのファイルの一覧を見せて": ".",
    "In my workspace, list the files in src": "src",
    "「設計 資料」のファイル一覧": "設計 資料",
    "/files": ".",
    "/files docs": "docs",
    "／files docs": "docs",
}
READS = {
    "Read README.md": "README.md",
    "read the file `my notes.txt`": "my notes.txt",
    "Could you open src/app.py, please?": "src/app.py",
    "show me config.toml": "config.toml",
    "Show me the contents of Makefile.": "Makefile",
    "what's in README.md?": "README.md",
    "What does config.toml say?": "config.toml",
    "cat a.txt": "a.txt",
    "notes.txt見せて": "notes.txt",
    "notes.txt を確認したい": "notes.txt",
    "print the file 設計.md": "設計.md",
    "README.md を読んで": "README.md",
    "README.mdの内容を教えてください": "README.md",
    "README.md の中身を見せてもらえますか？": "README.md",
    "README.mdを見て": "README.md",
    "「設計 メモ.txt」を開いて": "設計 メモ.txt",
    "docs の中の notes.txt を見せて": "docs/notes.txt",
    "docs フォルダにある notes.txt を表示して": "docs/notes.txt",
    "設計の資料.md を読んでください。": "設計の資料.md",
    "notes.txt には何が書いてありますか": "notes.txt",
    "/read my file.txt": "my file.txt",
    '/read "a b.txt"': "a b.txt",
    "メモ.txtを読んで": "メモ.txt",
    "read notes.txt in the workspace, please": "notes.txt",
    "ワークスペース内の notes.txt を読んで": "notes.txt",
    "/memory show": "AGENTS.md",
}
SEARCHES = {
    "search for TODO in src": ("TODO", "src"),
    'search for "hello world"': ("hello world", "."),
    "find 'foo bar' in the folder docs": ("foo bar", "docs"),
    "grep TODO": ("TODO", "."),
    "which file mentions TODO?": ("TODO", "."),
    "「TODO」が書いてあるファイルはどれ？": ("TODO", "."),
    "find all occurrences of main in src": ("main", "src"),
    "look in src for 'x'": ("x", "src"),
    "Find every mention of deadline in my workspace": ("deadline", "."),
    "search all files for the word total": ("total", "."),
    "search src for 'import os'": ("import os", "src"),
    "where is main defined?": ("main", "."),
    'which files contain "x y"?': ("x y", "."),
    "look for “設定” in docs": ("設定", "docs"),
    "「TODO」を検索して": ("TODO", "."),
    "src で「TODO」を検索してください": ("TODO", "src"),
    "src フォルダの中から TODO を探して": ("TODO", "src"),
    "「foo」が含まれるファイルを教えて": ("foo", "."),
    "「main」はどこで使われていますか？": ("main", "."),
    "/search hello world": ("hello world", "."),
}
WRITES = {
    'create hello.txt with the content "hi there"': ("hello.txt", "hi there"),
    'write "abc" to notes/new.txt': ("notes/new.txt", "abc"),
    'create a file named todo.txt with "buy milk" in it': ("todo.txt", "buy milk"),
    "todo.txt に「牛乳」と書いて保存して": ("todo.txt", "牛乳"),
    "todo.txt という名前で「牛乳」という内容のファイルを作って": ("todo.txt", "牛乳"),
    "新しいファイル todo.txt を「牛乳」という内容で作成してください": ("todo.txt", "牛乳"),
    "Please overwrite a.txt with 'x'": ("a.txt", "x"),
    "create an empty file called a.txt": ("a.txt", ""),
    "save 'it is' as it.txt": ("it.txt", "it is"),
    f"Create a file called b.py with the following content:\n```python\n{_CODE}```": ("b.py", _CODE),
    "hello.txt を「こんにちは」という内容で作成して": ("hello.txt", "こんにちは"),
    "「こんにちは」を hello.txt に書いて": ("hello.txt", "こんにちは"),
    "hello.txt に「こんにちは」と書き込んでください": ("hello.txt", "こんにちは"),
    "memo.txt という名前のファイルを「a」という内容で作って": ("memo.txt", "a"),
    "内容「abc」で a.txt を作成してください": ("a.txt", "abc"),
    "Write 'x' to new.txt in the workspace": ("new.txt", "x"),
    "ワークスペースに「x」という内容で new.txt を作成して": ("new.txt", "x"),
    "空のファイル a.txt を作って": ("a.txt", ""),
    "hello.txtというファイルを作成してください。中身は「こんにちは」です。": ("hello.txt", "こんにちは"),
    "「買い物.txt」というファイルを作って、「牛乳」と書いて": ("買い物.txt", "牛乳"),
    f"b.py を次の内容で作成してください：\n```python\n{_CODE}```": ("b.py", _CODE),
    "/write a.txt hello  world": ("a.txt", "hello  world"),
    "/write 'a b.txt' x": ("a b.txt", "x"),
    "write 'it's here' to a.txt": ("a.txt", "it's here"),
    "write “” to a.txt": ("a.txt", ""),
    "/write a.py\nx = 1\ny = 2": ("a.py", "x = 1\ny = 2"),
}
REPLACES = {
    "replace 'foo' with 'bar' in notes.txt": ("notes.txt", "foo", "bar"),
    'in notes.txt, replace "a b" with "c"': ("notes.txt", "a b", "c"),
    'replace the word "foo" with "bar" in notes.txt': ("notes.txt", "foo", "bar"),
    "notes.txt の中の「foo」をすべて「bar」に置換してください": ("notes.txt", "foo", "bar"),
    "change 1.0 to 2.0 in version.txt": ("version.txt", "1.0", "2.0"),
    "Replace all occurrences of `x` by `y` in src/app.py.": ("src/app.py", "x", "y"),
    "replace 'foo' with '' in notes.txt": ("notes.txt", "foo", ""),
    "notes.txt の「foo」を「bar」に置き換えて": ("notes.txt", "foo", "bar"),
    "notes.txt の中の foo を bar に変更してください": ("notes.txt", "foo", "bar"),
    "notes.txt で「古い 名前」を「新しい 名前」に置換": ("notes.txt", "古い 名前", "新しい 名前"),
    "/replace a.txt 'b c' d": ("a.txt", "b c", "d"),
}
ADDS = {
    'append "the end" to log.txt': ("log.txt", "the end"),
    "add the line 'x' to the end of a.txt": ("a.txt", "x"),
    "log.txt の末尾に「終わり」を追加して": ("log.txt", "終わり"),
    "/memory add use tabs": ("AGENTS.md", "- use tabs"),
}
RUNS = {
    "run pytest -q": "pytest -q",
    "Run `git status`.": "git status",
    "run git add .": "git add .",
    "execute the command ls -la": "ls -la",
    "please run echo 'hi there'": "echo 'hi there'",
    "run make test, please": "make test",
    "go ahead and run ls -la": "ls -la",
    "$ ls -l": "ls -l",
    "ls を実行": "ls",
    "ls を走らせて": "ls",
    "run sleep 1 in the workspace": "sleep 1",
    "run echo 'in the workspace'": "echo 'in the workspace'",
    "コマンド sleep 1 をワークスペース内で実行": "sleep 1",
    "pytest -q を実行して": "pytest -q",
    "「git status」を実行してください": "git status",
    "コマンド ls -la を実行": "ls -la",
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
    assert understood(text) == EXPECTED[text]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
def test_what_no_rule_knows_in_whole_is_not_understood(text: str) -> None:
    assert understood(text) is None


@pytest.mark.parametrize("text", ["help", "What can you do?", "使い方を教えて", "何ができますか？", "/help", "ヘルプ"])
def test_help_is_asked_for_in_many_ways(text: str) -> None:
    assert isinstance(understood(text), Help)


@pytest.mark.parametrize(
    "text", ["/", "/nothing", "/memory", "/memory x", "/read", "/replace a b", "/replace a 'b", "/write a"]
)
def test_a_command_that_is_wrong_is_told_what_would_be_right(text: str) -> None:
    wrong = understood(text)
    assert isinstance(wrong, Wrong)
    assert wrong.usages
    assert set(wrong.usages) <= set(slash.usages(slash.COMMANDS))


def test_every_command_that_is_shown_can_be_typed() -> None:
    for usage in slash.usages(slash.COMMANDS):
        words = usage.replace("[", "").replace("]", "").replace("<", "").replace(">", "")
        assert not isinstance(understood(words), Wrong), usage


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
def test_no_text_takes_long_to_be_understood(text: str) -> None:
    start = time.process_time()
    understood(text)
    assert time.process_time() - start < 1.0
