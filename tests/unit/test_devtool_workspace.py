"""The development agent's files: what lies in the workspace can be worked on, and nothing that lies outside."""

import os
import threading
from pathlib import Path

import pytest

from a2a_hub.text.language import Language
from functions.devtool.texts import Fault, ToolFailed
from functions.devtool.tools import list_folder, search_text
from functions.devtool.workspace import MAX_FILE_BYTES, Workspace, Workspaces
from tests.fakes.devtool import workspace_in

SECRET = "the secret of the operator"
OUTSIDE = (
    "../secret.txt",
    "src/../../secret.txt",
    "{outside}/secret.txt",
    "/etc/passwd",
    "link-to-file",
    "link-to-folder/secret.txt",
    "inner-link/../../secret.txt",
    "src/link-up/secret.txt",
    "/proc/self/environ",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    root = workspace_in(tmp_path)
    (root / "link-to-file").symlink_to(tmp_path / "secret.txt")
    (root / "link-to-folder").symlink_to(tmp_path)
    (root / "inner-link").symlink_to("src")
    (root / "src" / "link-up").symlink_to("../..")
    return root


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root, shown=str(root))


def fault(failed: pytest.ExceptionInfo[ToolFailed]) -> Fault:
    return failed.value.fault


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_is_read_written_listed_or_searched(workspace: Workspace, root: Path, name: str) -> None:
    name = name.format(outside=root.parent)
    with pytest.raises(ToolFailed) as reading:
        workspace.read(name)
    with pytest.raises(ToolFailed) as writing:
        workspace.write(name, "mine", expected=SECRET)
    with pytest.raises(ToolFailed) as listing:
        workspace.entries(name)
    with pytest.raises(ToolFailed) as searching:
        search_text(workspace, "secret", name, Language.EN)
    assert {fault(reading), fault(writing), fault(listing), fault(searching)} == {Fault.OUTSIDE}
    assert (root.parent / "secret.txt").read_text() == SECRET


class _OvertakenWorkspace(Workspace):
    """A workspace in which somebody puts a link in the place of a folder as soon as its path has been examined."""

    def resolve(self, name: str) -> str:
        found = super().resolve(name)
        folder = self.root / "src"
        if not folder.is_symlink():
            folder.rename(self.root / "moved")
            folder.symlink_to(self.root.parent)
        return found


def test_a_link_that_is_put_in_the_way_meanwhile_leads_nowhere(root: Path) -> None:
    with pytest.raises(ToolFailed):
        _OvertakenWorkspace(root).read("src/secret.txt")
    (root / "src").unlink()
    (root / "moved").rename(root / "src")
    with pytest.raises(ToolFailed):
        _OvertakenWorkspace(root).write("src/new.txt", "mine", expected=None)
    assert not (root.parent / "new.txt").exists()


@pytest.mark.parametrize("name", ["notes.txt", "./notes.txt", "src/../notes.txt", "{root}/notes.txt", "//notes.txt"])
def test_the_same_file_has_many_names_inside(workspace: Workspace, root: Path, name: str) -> None:
    name = name.format(root=root)
    if name.startswith("//"):
        with pytest.raises(ToolFailed) as failed:
            workspace.read(name)
        assert fault(failed) is Fault.OUTSIDE
    else:
        assert workspace.read(name) == "hello\nfoo bar\n"


def test_a_link_that_stays_inside_is_followed(workspace: Workspace) -> None:
    assert workspace.read("inner-link/app.py") == "x = 1  # TODO\n"


def test_names_in_japanese_are_names(workspace: Workspace, root: Path) -> None:
    workspace.write("議事録/第 1 回.txt", "はじめに\n", expected=None)
    assert workspace.read("議事録/第 1 回.txt") == "はじめに\n"
    assert "議事録/" in list_folder(workspace, ".", Language.JA)


@pytest.mark.parametrize("name", ["nothing.txt", "src/nothing/x.txt", "notes.txt/x", "a\0b", "x" * 5000, "\udcff"])
def test_what_is_not_there_is_told_so(workspace: Workspace, name: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        workspace.read(name)
    assert fault(failed) is Fault.NOT_FOUND
    failed.value.text(Language.JA).encode()


def test_only_regular_files_are_read_and_nothing_waits_for_a_pipe(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    for name, expected in (("pipe", Fault.NOT_A_FILE), ("src", Fault.A_FOLDER), (".", Fault.A_FOLDER)):
        with pytest.raises(ToolFailed) as failed:
            workspace.read(name)
        assert fault(failed) is expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"x" * (MAX_FILE_BYTES + 1), Fault.TOO_LARGE),
        (b"\xff\xfe\x00", Fault.NOT_TEXT),
        (b"a\0b", Fault.NOT_TEXT),
    ],
    ids=["large", "not UTF-8", "with a zero"],
)
def test_only_text_of_a_size_that_people_read_is_read(
    workspace: Workspace, root: Path, content: bytes, expected: Fault
) -> None:
    (root / "file").write_bytes(content)
    with pytest.raises(ToolFailed) as failed:
        workspace.read("file")
    assert fault(failed) is expected


def test_line_ends_stay_as_they_are(workspace: Workspace, root: Path) -> None:
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    assert workspace.read("dos.txt") == "one\r\ntwo\r\n"
    workspace.write("dos.txt", "one\r\n2\r\n", expected="one\r\ntwo\r\n")
    assert (root / "dos.txt").read_bytes() == b"one\r\n2\r\n"


def test_a_file_that_is_not_as_expected_is_not_written(workspace: Workspace, root: Path) -> None:
    for expected in (None, "something else"):
        with pytest.raises(ToolFailed) as failed:
            workspace.write("notes.txt", "mine", expected=expected)
        assert fault(failed) is Fault.CHANGED
    with pytest.raises(ToolFailed) as failed:
        workspace.write("gone.txt", "mine", expected="it was there")
    assert fault(failed) is Fault.CHANGED
    assert (root / "notes.txt").read_text() == "hello\nfoo bar\n"


def test_a_file_keeps_its_mode_and_nothing_is_left_beside_it(workspace: Workspace, root: Path) -> None:
    (root / "notes.txt").chmod(0o750)
    workspace.write("notes.txt", "new", expected="hello\nfoo bar\n")
    assert (root / "notes.txt").stat().st_mode & 0o777 == 0o750
    assert not [each for each in root.iterdir() if "devtool-new" in each.name]


def test_a_file_that_is_read_only_is_not_replaced(workspace: Workspace, root: Path) -> None:
    (root / "notes.txt").chmod(0o444)
    with pytest.raises(ToolFailed) as failed:
        workspace.write("notes.txt", "new", expected="hello\nfoo bar\n")
    assert fault(failed) is Fault.NOT_ALLOWED
    assert (root / "notes.txt").read_text() == "hello\nfoo bar\n"


@pytest.mark.parametrize(
    "name",
    [
        ".git/config",
        ".git/hooks/pre-commit",
        "src/.git/x",
        ".claude/settings.json",
        ".yarn/releases/yarn.cjs",
        ".pnpmfile.cjs",
        ".pylintrc",
        ".Rprofile",
        ".dir-locals.el",
    ],
)
def test_what_programs_obey_is_not_written(workspace: Workspace, name: str) -> None:
    with pytest.raises(ToolFailed) as failed:
        workspace.write(name, "x", expected=None)
    assert fault(failed) is Fault.PROTECTED


def test_of_two_writers_who_saw_the_same_file_one_wins(workspace: Workspace, root: Path) -> None:
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def write(content: str) -> None:
        start.wait()
        try:
            workspace.write("notes.txt", content, expected="hello\nfoo bar\n")
            outcomes.append(content)
        except ToolFailed as failed:
            outcomes.append(failed.fault)

    writers = [threading.Thread(target=write, args=(each,)) for each in ("one", "two")]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert Fault.CHANGED in outcomes
    assert (root / "notes.txt").read_text() in outcomes


def test_a_search_passes_by_what_it_cannot_read(workspace: Workspace, root: Path) -> None:
    (root / "binary").write_bytes(b"\xff todo")
    (root / ".git").mkdir()
    (root / ".git" / "todo").write_text("TODO")
    assert search_text(workspace, "todo", ".", Language.EN) == "src/app.py:1: x = 1  # TODO"
    assert search_text(workspace, "todo", "src/app.py", Language.EN) == "src/app.py:1: x = 1  # TODO"
    assert "見つかりません" in search_text(workspace, "ない", ".", Language.JA)


def test_names_that_no_answer_can_carry_are_shown_as_far_as_they_can(workspace: Workspace, root: Path) -> None:
    (root / os.fsdecode(b"\xff.txt")).write_text("hit")
    (root / "two\nlines\u202e").write_text("hit")
    shown = list_folder(workspace, ".", Language.EN) + search_text(workspace, "hit", ".", Language.EN)
    shown.encode()
    assert "two\ufffdlines\ufffd (3 B)" in shown
    assert shown.count("hit") == 2


def test_a_search_and_a_list_end_before_they_are_endless(workspace: Workspace, root: Path) -> None:
    (root / "many.txt").write_text("hit\n" * 1000)
    assert search_text(workspace, "hit", ".", Language.EN).count("\n") == 200
    (root / "many").mkdir()
    for number in range(501):
        (root / "many" / f"{number:03}").touch()
    assert list_folder(workspace, "many", Language.EN).endswith("… and 1 more")


@pytest.mark.parametrize(
    "path",
    [
        *("relative", "", "/", "{root}/..", "{root}/nothing", "{root}/link-to-folder", "{root}/notes.txt"),
        *("{root}/.git", "{root}/.git/hooks", "{root}/link-to-hooks", "{root}/src/.SSH"),
    ],
)
def test_only_folders_in_what_is_open_and_not_what_programs_obey_are_workspaces(root: Path, path: str) -> None:
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "src" / ".SSH").mkdir()
    (root / "link-to-hooks").symlink_to(".git/hooks")
    assert Workspaces([root], default=None).named(path.format(root=root)) is None


def test_a_workspace_may_be_a_folder_inside_what_is_open(root: Path) -> None:
    workspace = Workspaces([root], default=None).named(f"{root}/src")
    assert workspace is not None
    assert workspace.read("app.py") == "x = 1  # TODO\n"
    with pytest.raises(ToolFailed):
        workspace.read("../notes.txt")


def test_a_default_workspace_shows_no_path_of_its_machine(root: Path) -> None:
    workspace = Workspaces([root], default=root).default
    assert workspace is not None
    assert workspace.path_shown("notes.txt") == "notes.txt"
