"""Refuse docstrings that open with a relative clause: `python -m local.docstrings [FILE…]` (no file: all that git tracks)."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_EXEMPT = ("tests/",)
_RELATIVE = frozenset(
    {"what", "whether", "who", "whom", "whose", "where", "which", "how", "when", "whatever", "whoever"}
)


def main(arguments: list[str]) -> int:
    """Print each docstring with such an opening; 1 if there is any."""
    listed = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, text=True, check=True).stdout.split("\n")
    files = arguments or [name for name in listed if name and not name.startswith(_EXEMPT)]
    found = [line for name in files for line in openings(name)]
    print("\n".join(found) if found else "no docstring opens with a relative clause")
    return 1 if found else 0


def openings(name: str) -> Iterator[str]:
    """Yield `file:line: opening` for each docstring of the file that opens with a relative clause."""
    tree = ast.parse(Path(name).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        text = ast.get_docstring(node)
        if text and text.split(maxsplit=1)[0].strip(",:").lower() in _RELATIVE:
            yield f"{name}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0][:90]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
