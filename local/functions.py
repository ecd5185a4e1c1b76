"""The functions that run on one machine, in one table."""

from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class LocalFunction:
    """A function that runs in its own functions-framework process."""

    name: str
    """Its folder, its entry point and the name in reports."""
    threads: int
    """Requests it serves at once; an open stream holds one of them all the time."""
    source: Path = Path()
    """The file that holds the entry point."""
    reads_routes: bool = False
    """True if it reads the route table, and so needs the addresses of the agents."""
    trusts: tuple[str, ...] = ()
    """The functions whose principal headers it accepts."""
    python_path: Path | None = None
    """The folder of its packages, unless they are beside the source file."""


_FUNCTIONS = (
    LocalFunction(name="gate", threads=320),
    LocalFunction(name="hub", threads=320, reads_routes=True, trusts=("gate", "tasks")),
    LocalFunction(name="agent_card", threads=16, reads_routes=True),
    LocalFunction(name="docqa", threads=320, trusts=("hub",)),
    LocalFunction(name="general", threads=320),
    LocalFunction(name="expense", threads=320),
    LocalFunction(name="pm", threads=320),
    LocalFunction(name="devtool", threads=64, trusts=("hub",)),
    LocalFunction(name="tasks", threads=64, reads_routes=True, trusts=("hub",)),
    LocalFunction(name="console", threads=64),
)


def functions(*, bundled: bool = False) -> tuple[LocalFunction, ...]:
    """Return every function of this project, from the source tree, or from `build/` as it is uploaded."""
    folder = ROOT / ("build" if bundled else "functions")
    return tuple(
        replace(each, source=folder / each.name / "main.py", python_path=None if bundled else ROOT)
        for each in _FUNCTIONS
    )
