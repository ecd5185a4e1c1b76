"""A route table's compiled form: the same table, of the same text alone."""

import shutil
from pathlib import Path

import pytest

from a2a_hub.routing import compiled_table
from a2a_hub.routing.routes import RouteTableError
from a2a_hub.routing.table_file import RouteFile

ROOT = Path(__file__).parents[2]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The shipped table with its compiled form beside it."""
    file = Path(shutil.copyfile(ROOT / "routes.toml", tmp_path / "routes.toml"))
    _write_compiled(file)
    return file


def _write_compiled(table: Path) -> None:
    dump = compiled_table.dumped(table.read_text(encoding="utf-8"))
    assert dump is not None
    (table.parent / "routes.toml.compiled").write_text(dump, encoding="utf-8")


def _compiled(table: Path) -> compiled_table.CompiledTable | None:
    return compiled_table.loaded(
        (table.parent / "routes.toml.compiled").read_bytes(), table.read_text(encoding="utf-8")
    )


def test_a_compiled_table_is_read_as_the_table_itself(table: Path) -> None:
    with_it = RouteFile(table, {"PM_URL": "https://pm.example"}).read()
    assert _compiled(table) is not None
    (table.parent / "routes.toml.compiled").unlink()
    assert RouteFile(table, {"PM_URL": "https://pm.example"}).read() == with_it


def test_what_was_compiled_of_another_text_is_not_used(table: Path) -> None:
    text = table.read_text(encoding="utf-8").replace('id = "expense"', 'id = "travel"')
    table.write_text(text, encoding="utf-8")
    assert _compiled(table) is None
    read = RouteFile(table, {}).read()
    assert read is not None
    assert "travel" in read[0].by_id


@pytest.mark.parametrize("content", [b"", b"\xff", b'{"sha256"'])
def test_a_compiled_form_that_is_damaged_is_not_used(table: Path, content: bytes) -> None:
    (table.parent / "routes.toml.compiled").write_bytes(content)
    assert _compiled(table) is None
    assert RouteFile(table, {}).read() is not None


@pytest.mark.parametrize("text", ["routes = ", "[[routes]]\nid = 2026-01-01\n", "[[routes]]\nid = 'a\n"])
def test_a_table_that_cannot_be_compiled_has_no_compiled_form(text: str) -> None:
    assert compiled_table.dumped(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("routes = 1", "there are no routes"),
        ("routes = [1]", "must be a table"),
        ("[[routes]]\npatterns = 'a'", "patterns"),
        ("[[routes]]\npatterns = [1, '(']", "is not RE2"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_of_a_compiled_one_too(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "routes.toml").write_text(text)
    _write_compiled(tmp_path / "routes.toml")
    with pytest.raises(RouteTableError, match=problem):
        RouteFile(tmp_path / "routes.toml", {}).read()
