"""Which tests go to the same process when several run them: those that share what is made once."""

import re
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_TESTS = Path(__file__).parent
# What a conftest.py makes once, rather than for each test anew, unless it says that each process may.
_MADE_ONCE = re.compile(r"scope=(?!.*# in each process)|_emulator")


class FilesTogether(LoadScopeScheduling):
    """A file is never divided; nor is a folder whose conftest.py makes something once for all of its files."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])


@cache
def together(file: str) -> str:
    """Return the file, named from the project's root, or the folder that it is run with as a whole."""
    for folder in Path(file).parents:
        if folder.name == _TESTS.name:
            break
        conftest = _TESTS.parent / folder / "conftest.py"
        if conftest.exists() and _MADE_ONCE.search(conftest.read_text(encoding="utf-8")):
            return str(folder)
    return file
