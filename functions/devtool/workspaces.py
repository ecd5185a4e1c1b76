"""Which folders may be worked in: those that lie in what the operator allowed, whatever a caller names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from functions.devtool.workspace import Workspace


class Workspaces:
    """`allowed` are folders with their links resolved; `default` is the workspace of callers who name none, and lies in one."""

    def __init__(self, allowed: Sequence[Path], *, default: Path | None) -> None:
        self._allowed = tuple(allowed)
        self._default = default

    @property
    def default(self) -> Workspace | None:
        """The workspace of callers who name none."""
        return Workspace(self._default) if self._default else None

    def named(self, path: str) -> Workspace | None:
        """The workspace at an absolute path; None where it may not be worked in or is not there, untold which."""
        if "\0" in path or not Path(path).is_absolute():
            return None
        try:
            root = Path(os.path.realpath(path))
            is_there = any(map(root.is_relative_to, self._allowed)) and root.is_dir()
        except (OSError, UnicodeEncodeError):
            return None
        return Workspace(root, shown=path) if is_there else None
