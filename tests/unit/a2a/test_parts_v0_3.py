"""Parts in 0.3's JSON, whose kind is said, or is what they hold."""

from typing import Any

import pytest

from shared.a2a.compat.v0_3.part import to_core_part
from shared.a2a.errors import A2AError


@pytest.mark.parametrize(
    "part", [{"kind": "text", "text": "Hi"}, {"text": "Hi"}, {"type": "text", "text": "Hi"}]
)
def test_a_texts_kind_may_be_said_in_either_way_or_left_out(part: dict[str, Any]) -> None:
    assert to_core_part(part, "parts[0]") == {"text": "Hi"}


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"kind": "video", "text": "Hi"}, "parts[0].kind"),
        ({"type": "video", "text": "Hi"}, "parts[0].type"),
        ({"type": "file", "text": "Hi"}, "parts[0].type"),
        ({"type": 1, "text": "Hi"}, "parts[0].type"),
        ({}, "parts[0]"),
        ({"text": "Hi", "data": {}}, "parts[0]"),
    ],
)
def test_a_part_of_no_known_kind_is_refused_with_its_field(part: dict[str, Any], field: str) -> None:
    with pytest.raises(A2AError) as refused:
        to_core_part(part, "parts[0]")
    assert refused.value.fields[0][0] == field
