"""The byte code of all modules of a bundle in one file: a start reads that instead of some hundred files.

`local/bundle.py` writes it. A module whose source has changed since, or is of another Python, is loaded as ever.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER, spec_from_file_location
from pathlib import Path
from types import ModuleType

# Byte code, like other files that end so: it comes and goes with the sources.
_NAME = "modules.pyc"
# An upload is unpacked in any order, in a few seconds: a source is younger than the archive when it is so by more.
_UNPACKED_WITHIN_NS = 60 * 10**9


# Of each module: whether it is a package, the bytes of its source, and where its code begins and how long it is.
_Entries = dict[str, tuple[bool, int, int, int]]


def write(root: Path) -> None:
    """Writes the archive of the modules in the folder `root`."""
    entries: _Entries = {}
    code = bytearray()
    for source in sorted(root.rglob("*.py")):
        path = source.relative_to(root)
        is_package = path.name == "__init__.py"
        name = ".".join((path.parent if is_package else path.with_suffix("")).parts)
        text = source.read_bytes()
        # With a relative path, a stack tells the same wherever the bundle was made.
        one = marshal.dumps(compile(text, str(path), "exec", dont_inherit=True))
        entries[name] = (is_package, len(text), len(code), len(one))
        code += one
    index = marshal.dumps(entries)
    (root / _NAME).write_bytes(MAGIC_NUMBER + len(index).to_bytes(4, "big") + index + code)


def use(root: Path) -> None:
    """From now on, modules are loaded from the archive in the folder `root`, where there is one of this Python."""
    try:
        file = os.open(root / _NAME, os.O_RDONLY)
    except OSError:
        return
    if os.read(file, len(MAGIC_NUMBER)) == MAGIC_NUMBER:
        sys.meta_path.insert(0, _Archive(str(root), file))
    else:
        os.close(file)


class _Archive(Loader):
    """Finds and loads; the file stays open, for modules that are imported when a request needs them."""

    def __init__(self, root: str, file: int) -> None:
        self._root = root
        self._file = file
        self._unpacked = os.fstat(file).st_mtime_ns + _UNPACKED_WITHIN_NS
        length = int.from_bytes(os.read(file, 4), "big")
        self._entries: _Entries = marshal.loads(os.read(file, length))  # noqa: S302
        self._start = len(MAGIC_NUMBER) + 4 + length

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name not in self._entries:
            return None
        is_package, source_bytes, _, _ = self._entries[name]
        # Joined by hand, for a hundred modules at a start: Path takes many times longer.
        folder = f"{self._root}/{name.replace('.', '/')}"
        source = f"{folder}/__init__.py" if is_package else f"{folder}.py"
        try:
            now = os.stat(source)  # noqa: PTH116
        except OSError:
            return None
        if now.st_size != source_bytes or now.st_mtime_ns > self._unpacked:
            return None
        return spec_from_file_location(
            name, source, loader=self, submodule_search_locations=[folder] if is_package else None
        )

    def exec_module(self, module: ModuleType) -> None:
        """See importlib.abc.Loader."""
        _, _, offset, length = self._entries[module.__name__]
        code = os.pread(self._file, length, self._start + offset)
        exec(marshal.loads(code), module.__dict__)  # noqa: S102, S302 (as Python loads what stands beside the sources)
