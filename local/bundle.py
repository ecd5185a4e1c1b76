"""Bundles: a function plus `shared`, as copies without links, ready to upload."""

import compileall
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from a2a_hub.routing import compiled_table
from local.functions import ROOT, LocalFunction, functions

# `main.py` and the pins go to the bundle's root; the rest is of no use to a running function.
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*~", "main.py", "requirements.*")
# An upload changes the files' times: byte code is matched by content.
_BYTE_CODE: dict[str, Any] = {"quiet": 1, "invalidation_mode": PycInvalidationMode.CHECKED_HASH}


def main(names: Sequence[str]) -> int:
    """Make build/<name> for these functions; without names, for every function that has an entry point."""
    with tempfile.TemporaryDirectory() as folder:
        # All functions have the same copy, whose compilation takes most of the time.
        shared = Path(folder) / "shared"
        _copy_compiled(ROOT / "shared", shared)
        for function in functions():
            if names and function.name not in names:
                continue
            target = ROOT / "build" / function.name
            bundle(function, root=ROOT, target=target, shared=shared)
            print(f"{target.relative_to(ROOT)}: {sum(1 for _ in files_of(target))} files")
    return 0


def bundle(function: LocalFunction, *, root: Path, target: Path, shared: Path | None = None) -> None:
    """Fill `target` with everything that `function` needs to run from any folder, and nothing else.

    `root` is the source tree, and `shared` a compiled copy of its `shared`, if there is one. Another bundling at the same time
    does no harm.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    source = root / "functions" / function.name
    if shared is None:
        _copy_compiled(root / "shared", fresh)
    else:
        shutil.copytree(shared, fresh)
    shutil.copytree(source, fresh / "functions" / function.name, ignore=_LEFT_OUT)
    shutil.copyfile(root / "functions" / "__init__.py", fresh / "functions" / "__init__.py")
    shutil.copyfile(source / "main.py", fresh / "main.py")
    shutil.copyfile(source / "requirements.txt", fresh / "requirements.txt")
    if function.reads_routes:
        shutil.copyfile(root / "routes.toml", fresh / "routes.toml")
        dump = compiled_table.dumped((fresh / "routes.toml").read_text(encoding="utf-8"))
        if dump is not None:
            (fresh / compiled_table.NAME.format(table="routes.toml")).write_text(dump, encoding="utf-8")
    compileall.compile_dir(fresh / "functions", stripdir=fresh, **_BYTE_CODE)
    compileall.compile_file(fresh / "main.py", stripdir=fresh, **_BYTE_CODE)
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _copy_compiled(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=_LEFT_OUT)
    compileall.compile_dir(target, stripdir=target, **_BYTE_CODE)


def files_of(bundle_folder: Path) -> Iterable[Path]:
    """Return the files of a bundle without byte code, relative to it."""
    for path in sorted(bundle_folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path.relative_to(bundle_folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
