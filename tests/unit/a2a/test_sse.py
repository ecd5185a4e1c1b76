"""Server-sent events, however they are cut and whatever ends their lines (WHATWG HTML §9.2)."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import sse

LIMIT = 1_000
STREAM = (
    b"\xef\xbb\xbf: welcome\n\n"
    b'data: {"a":1}\n\n'
    b"event: update\nid: 7\nretry: 10\ndata:{}\n\n"
    b"data: first line\ndata:  second line\ndata\ndata:\n\n"
    b": keep-alive\n\n"
    b"data: \xe7\xb5\x8c\xe8\xb2\xbb\n\n"
    b"database: no\n data: no\nDATA: no\n\n"
    b"data: last\n\n"
    b"data: cut off"
)
EVENTS = [b'{"a":1}', b"{}", b"first line\n second line\n\n", "経費".encode(), b"last"]
ENDINGS = pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])


@ENDINGS
def test_a_stream_cut_anywhere_gives_the_same_events(ending: bytes) -> None:
    stream = STREAM.replace(b"\n", ending)
    for position in range(len(stream) + 1):
        chunks = [stream[:position], stream[position:]]
        assert list(sse.read(chunks, limit_bytes=LIMIT)) == EVENTS, stream[:position][-20:]


@ENDINGS
def test_a_stream_byte_by_byte_gives_the_same_events(ending: bytes) -> None:
    stream = STREAM.replace(b"\n", ending)
    chunks = [stream[position : position + 1] for position in range(len(stream))]
    assert list(sse.read(chunks, limit_bytes=LIMIT)) == EVENTS


@given(
    st.lists(st.integers(0, len(STREAM)), max_size=8),
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), min_size=40),
)
def test_mixed_line_ends_and_any_cuts_give_the_same_events(cuts: list[int], endings: list[bytes]) -> None:
    lines = STREAM.split(b"\n")
    stream = b"".join(line + ending for line, ending in zip(lines[:-1], endings, strict=False)) + lines[-1]
    # A CR that ends a line and a LF that ends an empty one would together be a single CRLF.
    assume(not _glued(lines, endings))
    steps = sorted({0, *(min(cut, len(stream)) for cut in cuts), len(stream)})
    chunks = [stream[start:end] for start, end in pairwise(steps)]
    assert list(sse.read(chunks, limit_bytes=LIMIT)) == EVENTS


def _glued(lines: list[bytes], endings: list[bytes]) -> bool:
    return any(
        endings[index] == b"\r" and not lines[index + 1] and endings[index + 1].startswith(b"\n")
        for index in range(len(lines) - 1)
    )


@ENDINGS
def test_an_event_is_there_as_soon_as_its_empty_line_has_ended(ending: bytes) -> None:
    given_so_far: list[bytes] = []

    def chunks() -> Iterator[bytes]:
        yield b"data: one" + ending + ending
        given_so_far.append(b"more")
        yield b"data: two" + ending + ending

    events = sse.read(chunks(), limit_bytes=LIMIT)
    assert next(events) == b"one"
    assert given_so_far == []


@pytest.mark.parametrize(
    "stream",
    [
        b"data: " + b"x" * (LIMIT + 1),
        b"data: " + b"x" * 600 + b"\ndata: " + b"y" * 600 + b"\n\n",
        b":" + b"x" * 2_000,
    ],
    ids=["a long line", "many lines", "a long comment"],
)
def test_an_event_over_the_limit_is_refused_before_it_is_kept(stream: bytes) -> None:
    chunks = (stream[start : start + 100] for start in range(0, len(stream), 100))
    with pytest.raises(ValueError, match="too large"):
        list(sse.read(chunks, limit_bytes=LIMIT))


def test_many_events_may_together_be_longer_than_the_limit() -> None:
    assert len(list(sse.read([sse.write(b"x" * 500)] * 20, limit_bytes=LIMIT))) == 20


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"\n\n\n",
        b": only\n\n: comments\n\n",
        b"id: 1\ndata: \n\ndata\n\n",
        b"data: no end",
        b"data: no end\n",
    ],
)
def test_without_a_complete_event_there_is_none(stream: bytes) -> None:
    assert list(sse.read([stream], limit_bytes=LIMIT)) == []


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8")), max_size=5))
def test_what_is_written_is_read_again(texts: list[str]) -> None:
    stream = sse.KEEP_ALIVE.join(sse.write(protojson.encode(text)) for text in texts)
    assert [protojson.decode(data) for data in sse.read([stream], limit_bytes=10_000)] == texts


def test_an_event_stays_on_one_line_for_a_client_that_knows_more_ends_of_a_line_and_says_the_same() -> None:
    text = "一\u2028二\u2029三\u0085四\v\f\x1c\x1d\x1e\r\n\\u2028 𠮷 Â\u0080"
    written = sse.write(protojson.encode({"text": text}))
    assert len(written.decode().splitlines()) == 2
    (data,) = sse.read([written], limit_bytes=LIMIT)
    assert protojson.decode(data) == {"text": text}
