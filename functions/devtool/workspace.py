"""The files of one workspace, and the folders that may be a workspace: nothing outside them is touched.

A name is resolved with its links and must lie inside. Then it is opened from the workspace down without following any link, so
that a link that is put in its way meanwhile leads nowhere.
"""

import errno
import hashlib
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from a2a_hub.text.display import UNSEEN
from functions.devtool.texts import Fault, ToolFailed

MAX_FILE_BYTES = 200_000
"""The size limit of files that are read or written: several events carry the text."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Do not wait for a pipe without a writer.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Programs run what stands in them, or take their settings from them, without being asked to.
PROTECTED = frozenset({
    ".git", ".gitconfig", ".gitmodules", ".githooks", ".husky", ".hg", ".svn", ".npmrc", ".yarnrc",
    ".yarnrc.yml", ".pypirc", ".netrc", ".pip", ".envrc", ".ssh", ".gnupg", ".aws", ".config", ".vscode",
    ".idea", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".inputrc", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".gdbinit", ".lldbinit",
    ".pdbrc", ".irbrc", ".pryrc", ".cargo", ".mvn", ".bazelrc", ".bundle", ".mise.toml", ".pre-commit-config.yaml",
    ".devcontainer", ".gemini", ".cursor", ".claude", ".mcp.json", ".direnv", ".yarn", ".pnpmfile.cjs", ".pylintrc",
    ".dir-locals.el", ".rprofile", ".ghci", ".ocamlinit",
})  # fmt: skip
_MAX_NAME_CHARACTERS = 1000
# All callers whom the hub does not sign share such a subject.
_ANONYMOUS = "anonymous:"
_MAX_ENTRIES = 20_000
_FAULTS = {
    errno.ENOENT: Fault.NOT_FOUND,
    errno.ENOTDIR: Fault.NOT_FOUND,
    errno.ENAMETOOLONG: Fault.NOT_FOUND,
    errno.EISDIR: Fault.NOT_A_FILE,
    errno.ENXIO: Fault.NOT_A_FILE,
    errno.ELOOP: Fault.OUTSIDE,
    errno.EACCES: Fault.NOT_ALLOWED,
    errno.EPERM: Fault.NOT_ALLOWED,
    errno.EROFS: Fault.NOT_ALLOWED,
    errno.ENOSPC: Fault.NO_SPACE,
    errno.EDQUOT: Fault.NO_SPACE,
}


class Entry(Struct, frozen=True):
    """An entry of a folder; the `name` of a folder ends with a slash."""

    name: str
    bytes: int


class Workspace:
    """One folder. `shown` is the path that its caller gave; "" if they gave none, and must not learn of paths outside it."""

    _writing = threading.Lock()

    def __init__(self, root: Path, *, shown: str = "") -> None:
        self.root = root
        self.shown = shown

    def resolve(self, name: str) -> str:
        """Return the path of a name inside the workspace; "." is the workspace itself. Raises ToolFailed."""
        if "\0" in name or len(name) > _MAX_NAME_CHARACTERS:
            raise ToolFailed(Fault.NOT_FOUND, path=name.replace("\0", "")[:80])
        if self.shown and Path(name).is_relative_to(self.shown):
            name = str(Path(name).relative_to(self.shown))
        try:
            found = Path(os.path.realpath(self.root / name))
        except (OSError, UnicodeEncodeError):
            raise ToolFailed(Fault.NOT_FOUND, path=name) from None
        if not found.is_relative_to(self.root):
            raise ToolFailed(Fault.OUTSIDE, path=name)
        return str(found.relative_to(self.root))

    def path_shown(self, place: str) -> str:
        """Return the absolute path, as far as the caller knows it."""
        return printable(str(Path(self.shown) / place) if self.shown else place)

    def read(self, name: str) -> str:
        """Return the text of a file, with its line ends. Raises ToolFailed."""
        place = self.resolve(name)
        with _contained(place), self._opened(place) as file:
            return _text(_content(file, place), place)

    def text_or_none(self, name: str) -> str | None:
        """Return the text of a file; None if it does not exist. Raises ToolFailed."""
        try:
            return self.read(name)
        except ToolFailed as failed:
            if failed.fault is Fault.NOT_FOUND:
                return None
            raise

    def entries(self, name: str) -> list[Entry]:
        """Return the entries of a folder, folders first. Raises ToolFailed."""
        place = self.resolve(name)
        found: list[Entry] = []
        with (
            _contained(place, not_a_folder=True),
            self._folder(place) as folder,
            os.scandir(folder) as entries,
        ):
            for entry in entries:
                if len(found) == _MAX_ENTRIES:
                    break
                with suppress(OSError):
                    is_folder = entry.is_dir(follow_symlinks=False)
                    size = 0 if is_folder else entry.stat(follow_symlinks=False).st_size
                    found.append(Entry(f"{entry.name}/" if is_folder else entry.name, size))
        return sorted(found, key=lambda each: (not each.name.endswith("/"), each.name))

    def write(self, name: str, content: str, *, expected: str | None) -> None:
        """Write a file atomically if its content is still `expected` (None: no such file). Raises ToolFailed."""
        place = self.check_writable(name, content)
        with self._writing, _contained(place):
            if self.text_or_none(place) != expected:
                raise ToolFailed(Fault.CHANGED, path=place)
            parent, _, last = place.rpartition("/")
            with self._folder(parent or ".", makes=True) as folder:
                self._replace(folder, last, content.encode())

    def check_writable(self, name: str, content: str) -> str:
        """Return the path of a file that may be written with this content. Raises ToolFailed."""
        place = self.resolve(name)
        if place == ".":
            raise ToolFailed(Fault.NOT_A_FILE, path=name)
        if _is_protected(place):
            raise ToolFailed(Fault.PROTECTED, path=place)
        try:
            size = len(content.encode())
        except UnicodeEncodeError:
            raise ToolFailed(Fault.NOT_TEXT, path=place) from None
        if size > MAX_FILE_BYTES:
            raise ToolFailed(Fault.TOO_LARGE, path=place, limit=MAX_FILE_BYTES)
        return place

    def _replace(self, folder: int, name: str, content: bytes) -> None:
        mode = None
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            # Its folder would allow the replacement.
            if not mode & 0o222:
                raise PermissionError(errno.EACCES, "read-only")
        new = f".{os.getpid()}-{threading.get_ident()}.devtool-new"
        try:
            with os.fdopen(os.open(new, _WRITING, 0o666, dir_fd=folder), "wb") as file:
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with suppress(OSError):
                os.unlink(new, dir_fd=folder)
            raise

    @contextmanager
    def _opened(self, place: str) -> Iterator[int]:
        parent, _, name = place.rpartition("/")
        with self._folder(parent or ".") as folder:
            file = os.open(name, _READING, dir_fd=folder)
        try:
            mode = os.fstat(file).st_mode
            if stat.S_ISDIR(mode):
                raise ToolFailed(Fault.A_FOLDER, path=place)
            if not stat.S_ISREG(mode):
                raise ToolFailed(Fault.NOT_A_FILE, path=place)
            yield file
        finally:
            os.close(file)

    @contextmanager
    def _folder(self, place: str, *, makes: bool = False) -> Iterator[int]:
        folder = os.open(self.root, _FOLDER)
        try:
            for name in () if place == "." else place.split("/"):
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=folder)
                inner = os.open(name, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
        finally:
            os.close(folder)


def _is_protected(place: str) -> bool:
    return not PROTECTED.isdisjoint(place.casefold().split("/"))


def printable(name: str) -> str:
    """Return a file's name on one readable line that an answer can carry."""
    text = name.encode("utf-8", "replace").decode()
    return "".join(each if is_visible(each) else "\ufffd" for each in text)


def is_visible(character: str) -> bool:
    """Return True for visible characters and blanks: none that moves or hides its neighbours."""
    return (character.isprintable() and character not in UNSEEN) or character == "\u3000"


def _content(file: int, place: str) -> bytes:
    content = b""
    while chunk := os.read(file, MAX_FILE_BYTES + 1 - len(content)):
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise ToolFailed(Fault.TOO_LARGE, path=place, limit=MAX_FILE_BYTES)
    return content


def _text(content: bytes, place: str) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ToolFailed(Fault.NOT_TEXT, path=place) from None
    if "\0" in text:
        raise ToolFailed(Fault.NOT_TEXT, path=place)
    return text


@contextmanager
def _contained(place: str, *, not_a_folder: bool = False) -> Iterator[None]:
    """Translate errors of the system; their texts stay here."""
    try:
        yield
    except OSError as error:
        fault = _FAULTS.get(error.errno or 0, Fault.UNUSABLE)
        if not_a_folder and error.errno == errno.ENOTDIR:
            fault = Fault.NOT_A_FOLDER
        raise ToolFailed(fault, path=place) from None


class Workspaces:
    """The folders that may be worked in. `allowed` have their links resolved; the `default` workspace lies in one of them.

    With `is_per_person`, each caller has a folder in the default workspace, and no other.
    """

    def __init__(self, allowed: Sequence[Path], *, default: Path | None, is_per_person: bool = False) -> None:
        self._allowed = tuple(allowed)
        self._default = default
        self._is_per_person = is_per_person

    def of(self, subject: str) -> "Workspaces":
        """Return the folders of one caller; their own is made where it does not exist. Nobody in particular has none."""
        if not self._is_per_person:
            return self
        if self._default is None or not subject or subject.startswith(_ANONYMOUS):
            return Workspaces((), default=None)
        own = self._default / hashlib.sha256(subject.encode()).hexdigest()[:32]
        own.mkdir(mode=0o700, exist_ok=True)
        return Workspaces((own,), default=own)

    @property
    def default(self) -> Workspace | None:
        """The workspace of callers who name none; None if they have none."""
        return Workspace(self._default) if self._default else None

    def named(self, path: str) -> Workspace | None:
        """Return the workspace at an absolute path; None if it is not allowed, lies in a protected folder or does not exist,
        without saying which.
        """
        if "\0" in path or not Path(path).is_absolute():
            return None
        try:
            root = Path(os.path.realpath(path))
            insides = [root.relative_to(folder) for folder in self._allowed if root.is_relative_to(folder)]
            is_open = any(not _is_protected(str(inside)) for inside in insides) and root.is_dir()
        except (OSError, UnicodeEncodeError):
            return None
        return Workspace(root, shown=path) if is_open else None
