"""Bytes that are JSON, and bytes that are not."""

from typing import Any

import pytest

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import PARSE_ERROR, A2AError

NO_JSON: dict[str, bytes] = {
    "nothing": b"",
    "half an object": b'{"a":',
    "two values": b"{} {}",
    "trailing comma": b'{"a":1,}',
    "single quotes": b"{'a':1}",
    "NaN": b"NaN",
    "infinity": b"-Infinity",
    "number out of range": b"1e999",
    "integer of 5000 digits": b"1" * 5000,
    "invalid UTF-8": b'"\xff"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "UTF-8 of a surrogate": b'"\xed\xa0\x80"',
    "lone surrogate": b'"\\ud800"',
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "byte order mark of UTF-16": b"\xff\xfe{}",
    "raw NUL": b'"\x00"',
    "NUL after the value": b"{}\x00",
    "raw line break in a string": b'"a\nb"',
    "nesting of 101 lists": b"[" * 101 + b"]" * 101,
    "nesting of 101 objects": b'{"a":' * 101 + b"1" + b"}" * 101,
    "nesting of 100,000 lists": b"[" * 100_000,
}


@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON.keys())
def test_what_is_no_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(A2AError) as raised:
        protojson.decode(body)
    assert raised.value.kind is PARSE_ERROR


JSON: dict[str, tuple[bytes, Any]] = {
    "spaces around": (b" \r\n\t{} \n", {}),
    "byte order mark": (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
    "100 levels": (b"[" * 100 + b"]" * 100, None),
    "many lists side by side": (b"[" + b",".join([b"[]"] * 500) + b"]", [[]] * 500),
    "brackets in a string": (b'"' + b"[" * 500 + b'"', "[" * 500),
    "escaped NUL": (b'"\\u0000"', "\x00"),
    "a pair of surrogates": (b'"\\ud83d\\ude00"', "😀"),
    "a repeated member: the last one": (b'{"a":1,"a":2}', {"a": 2}),
    "an integer of 30 digits": (b"1" * 30, int("1" * 30)),
}


@pytest.mark.parametrize(("body", "value"), JSON.values(), ids=JSON.keys())
def test_json_is_decoded(body: bytes, value: Any) -> None:
    decoded = protojson.decode(body)
    if value is not None:
        assert decoded == value
    assert protojson.decode(protojson.encode(decoded)) == decoded
