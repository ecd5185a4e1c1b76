"""The route table's file, read again and again: what changed is used, what does not load is not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.routing.routes import RouteTable
from a2a_hub.routing.table_file import RouteFile, RouteSource
from a2a_hub.telemetry.log import Log

_ROUTE = """
[[routes]]
id = "{id}"
name = "{id}"
description = "For tests."
url = "{url}"
boundary = "public"
default = true
"""


class Scene:
    """A table's file, and a source over it whose time is the test's."""

    def __init__(self, folder: Path) -> None:
        self.now = 0.0
        self.file = folder / "routes.toml"
        self.tables: list[tuple[list[str], tuple[str, ...]]] = []
        self.lines: list[bytes] = []
        self.waiting: list[Callable[[], object]] = []
        self.write("first")
        file = RouteFile(self.file, {"SET_URL": "https://set.example"})
        assert file.read() is not None
        self.source = RouteSource(
            file,
            seconds=300,
            changed=self._changed,
            log=Log(self.lines.append, clock=lambda: 0.0, new_id=lambda: "", function="test"),
            clock=lambda: self.now,
            run=self.waiting.append,
        )

    def write(self, id_: str, url: str = "https://a.example") -> None:
        self.file.write_text(_ROUTE.format(id=id_, url=url))

    def look_after(self, seconds: float) -> None:
        """A request comes, and what it starts is done."""
        self.now += seconds
        self.source.reload_if_due()
        while self.waiting:
            self.waiting.pop()()

    def _changed(self, table: RouteTable, unset: tuple[str, ...]) -> None:
        self.tables.append(([route.id for route in table.routes], unset))

    @property
    def log(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_a_changed_table_is_used_from_the_next_look_on(scene: Scene) -> None:
    scene.write("second")
    scene.look_after(299)
    assert scene.tables == []
    scene.look_after(1)
    assert scene.tables == [(["second"], ())]
    assert scene.log[0]["message"] == "The route table has changed"


def test_the_same_table_changes_nothing(scene: Scene) -> None:
    for _ in range(3):
        scene.look_after(300)
    assert (scene.tables, scene.log) == ([], [])


def test_a_table_that_does_not_load_leaves_the_last_one_in_use_and_is_told_of_once(scene: Scene) -> None:
    scene.file.write_text("[[routes]]\nid = 3\n")
    scene.look_after(300)
    scene.look_after(300)
    assert scene.tables == []
    (line,) = scene.log
    assert line["severity"] == "ERROR"
    assert "the last one stays in use" in line["message"]
    assert "routes.toml:" in line["message"]
    scene.write("mended")
    scene.look_after(300)
    assert scene.tables == [(["mended"], ())]


@pytest.mark.parametrize("spoil", [Path.unlink, lambda file: file.write_bytes(b"\xff\xfe")])
def test_a_table_that_cannot_be_read_leaves_the_last_one_in_use(scene: Scene, spoil: Callable[[Path], object]) -> None:
    spoil(scene.file)
    scene.look_after(300)
    assert scene.tables == []
    assert [line["severity"] for line in scene.log] == ["ERROR"]
    scene.write("back")
    scene.look_after(300)
    assert scene.tables == [(["back"], ())]


def test_an_address_that_is_not_set_is_named(scene: Scene) -> None:
    scene.write("second", "${OTHER_URL}")
    scene.look_after(300)
    scene.write("third", "${SET_URL}")
    scene.look_after(300)
    assert scene.tables == [(["second"], ("OTHER_URL",)), (["third"], ())]


def test_while_the_file_is_read_nobody_reads_it_again(scene: Scene) -> None:
    scene.now += 300
    for _ in range(5):
        scene.source.reload_if_due()
    assert len(scene.waiting) == 1


_OPTIONAL = """
[[routes]]
id = "extra"
name = "extra"
description = "For tests."
url = "{url}"
boundary = "public"
optional = true
keywords = ["extra"]
priority = 1
"""


@pytest.mark.parametrize(
    ("url", "default_url", "there", "unset"),
    [
        ("${SET_URL}/a2a", "https://a.example", True, ()),
        ("https://b.example", "https://a.example", True, ()),
        ("${EXTRA_URL}/a2a", "https://a.example", False, ()),
        ("${EXTRA_URL}/a2a", "${OTHER_URL}", False, ("OTHER_URL",)),
        ("${EXTRA_URL}/a2a", "${EXTRA_URL}", False, ("EXTRA_URL",)),
    ],
)
def test_an_optional_route_is_there_where_it_has_an_address_and_nobody_misses_it_elsewhere(
    tmp_path: Path, url: str, default_url: str, there: bool, unset: tuple[str, ...]
) -> None:
    file = tmp_path / "routes.toml"
    file.write_text(_ROUTE.format(id="first", url=default_url) + _OPTIONAL.format(url=url))
    read = RouteFile(file, {"SET_URL": "https://set.example"}).read()
    assert read is not None
    assert ("extra" in read[0].by_id, read[1]) == (there, unset)
