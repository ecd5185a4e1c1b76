"""Parts in 0.3's JSON, whose kind is said, or is what they hold."""

import base64
from typing import Any

import pytest

from a2a_hub.a2a.compat.v0_3.event import to_core_push_config
from a2a_hub.a2a.compat.v0_3.message import to_core_part
from a2a_hub.a2a.errors import A2AError


@pytest.mark.parametrize("part", [{"kind": "text", "text": "Hi"}, {"text": "Hi"}, {"type": "text", "text": "Hi"}])
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


def _in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("application/pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3"),
        ("text/plain", "こんにちは".encode()),
        (None, bytes(range(256))),
    ],
)
def test_a_files_content_is_read_from_one_layer_of_base64_and_from_two(media_type: str | None, content: bytes) -> None:
    once = _in_base64(content)
    for written in (once, _in_base64(once.encode())):
        file = {"fileWithBytes": written} | ({"mimeType": media_type} if media_type else {})
        assert to_core_part({"file": file}, "parts[0]")["raw"] == once


@pytest.mark.parametrize("content", [b"", b"hello123", b"Password", b"12345678", b"abc"])
def test_a_text_file_that_looks_like_base64_keeps_its_content(content: bytes) -> None:
    file = {"fileWithBytes": _in_base64(content), "mimeType": "text/plain"}
    assert to_core_part({"file": file}, "parts[0]")["raw"] == _in_base64(content)


def test_over_json_rpc_the_bytes_of_a_file_are_base64_once() -> None:
    wrapped = _in_base64(_in_base64(b"%PDF-1.4").encode())
    part = {"kind": "file", "file": {"bytes": wrapped}}
    assert to_core_part(part, "parts[0]")["raw"] == wrapped


@pytest.mark.parametrize("empty", [{}, {"schemes": []}, {"schemes": [], "credentials": ""}, {"schemes": None}])
def test_an_empty_authentication_of_a_push_config_is_none(empty: dict[str, object]) -> None:
    config = {"url": "https://example.com/hook", "authentication": empty}
    assert to_core_push_config(config, "pushNotificationConfig") == {"url": "https://example.com/hook"}


def test_credentials_of_a_push_config_need_a_scheme() -> None:
    with pytest.raises(A2AError) as refused:
        to_core_push_config({"url": "https://example.com/", "authentication": {"credentials": "x"}}, "config")
    assert refused.value.fields == (("config.authentication.schemes", "must name a scheme"),)
