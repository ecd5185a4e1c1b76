"""Which tests go to the same process when several run them: those that share what is made once."""

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_TESTS = Path(__file__).parent


class FilesTogether(LoadScopeScheduling):
    """A file is never divided; nor is a folder whose conftest.py makes something for all of its files."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])


@cache
def together(file: str) -> str:
    """What the tests of this file, named from the project's root, are run with: it, or a folder that it is in."""
    for folder in Path(file).parents:
        if folder.name == _TESTS.name:
            break
        if (_TESTS.parent / folder / "conftest.py").exists():
            return str(folder)
    return file
