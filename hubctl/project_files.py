"""Files that the operator names, and the project's own: route tables, questions, cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.routes import RouteTable
from hubctl.main import CommandError

SOURCE_TREE = Path(__file__).resolve().parents[1]
BUNDLED = Path(__file__).resolve().with_name("_bundled")
"""The parts of the source tree that an installed wheel carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTable:
    """A valid table, its file, and the variables for which an address was made up."""

    file: Path
    table: RouteTable
    unset: tuple[str, ...]


def project_file(name: str, *, option: str) -> Path:
    """Return the path of a file in the working directory, else in the source tree or the wheel.

    Raises CommandError, which names the `option` that takes another file.
    """
    for folder in (Path.cwd(), SOURCE_TREE, BUNDLED):
        if (folder / name).is_file():
            return folder / name
    raise CommandError(f"there is no {name} in this folder: name one with {option}")


def read_table(file: Path | None, *, environment: Mapping[str, str]) -> ReadTable:
    """Read the route table `file`, by default the project's routes.toml.

    Raises CommandError if it cannot be read, RouteTableError if it is not valid.
    """
    file = file or project_file("routes.toml", option="--routes FILE")
    table, unset = table_of(read_text(file), str(file), environment)
    return ReadTable(file=file, table=table, unset=unset)


def table_of(text: str, name: str, environment: Mapping[str, str]) -> tuple[RouteTable, tuple[str, ...]]:
    """Return the table in `text`, and the variables that are not set, for which addresses are made up. Raises RouteTableError."""
    unset = unset_variables(text, environment, file=name)
    made_up = {variable: f"https://{variable.lower().replace('_', '-')}.invalid" for variable in unset}
    return load(text, variables={**environment, **made_up}, file=name), unset


def read_text(file: Path) -> str:
    """Return the file's text. Raises CommandError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise CommandError(f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is not UTF-8: save it as UTF-8") from None
