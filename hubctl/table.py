"""Reads a route table for the operator: variables that are not set become placeholders, and are named."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.routes import RouteTable
from hubctl.main import CommandError

DEFAULT_FILE = Path(__file__).parent.parent / "routes.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTable:
    """A table that holds, and the variables for which an address was made up."""

    table: RouteTable
    unset: tuple[str, ...]


def read_table(file: Path, *, environment: Mapping[str, str]) -> ReadTable:
    """The table in `file`. Raises CommandError if it cannot be read, RouteTableError if it does not hold."""
    text = read_text(file)
    unset = unset_variables(text, environment, file=str(file))
    placeholders = {name: f"https://{name.lower().replace('_', '-')}.invalid" for name in unset}
    return ReadTable(table=load(text, variables={**environment, **placeholders}, file=str(file)), unset=unset)


def read_text(file: Path) -> str:
    """The file's text. Raises CommandError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise CommandError(f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8: save it as UTF-8") from None
