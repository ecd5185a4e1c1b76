"""The text of surfaces: what their components show, within bounds."""

import tracemalloc
from typing import Any

import pytest

from a2a_hub.a2a.a2ui import text_of_surfaces
from a2a_hub.a2a.model import Part


def _said(text: Any, data: Any, *, times: int = 1) -> str:
    components = [{"component": "Text", "text": text}] * times
    messages = [
        {"updateComponents": {"surfaceId": "s", "components": components}},
        {"updateDataModel": {"surfaceId": "s", "value": data}},
    ]
    return text_of_surfaces([Part(data=messages, media_type="application/json+a2ui")])


def _filled(template: str) -> dict[str, Any]:
    return {"call": "formatString", "args": {"value": template}}


def test_what_is_no_text_and_no_number_has_no_text() -> None:
    data = {"list": [{"name": "a"}], "on": True, "none": None, "count": 2}
    assert _said(_filled("[${/list}${/on}${/none}] ${/count}"), data) == "[] 2"
    assert [_said({"path": path}, data) for path in ("/list", "/on", "/none", "/count")] == ["", "", "", "2"]


@pytest.mark.parametrize("text", [{"path": "name"}, _filled("${name}" * 20_000), _filled("${/list}" * 20_000)])
def test_long_lists_that_are_shown_often_are_read_only_so_far(text: dict[str, Any]) -> None:
    names = [f"name {index}" for index in range(20_000)]
    assert (
        len(_said(text, {"list": [{"name": name} for name in names]}, times=20_000 if "path" in text else 2)) <= 20_000
    )


def test_a_long_name_above_many_values_takes_no_memory_for_each_of_them() -> None:
    data = {"short": {"name": "said"}, "n" * 200_000: dict.fromkeys(map(str, range(5_000)), "a")}
    tracemalloc.start()
    try:
        assert _said({"path": "/short/name"}, data) == "said"
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 20_000_000
