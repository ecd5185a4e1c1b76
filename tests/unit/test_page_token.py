"""A page token leads to a position, and anything else to none: its mark is no secret, so that anybody can make one."""

import base64
import hashlib

import pytest

from a2a_hub.task_store.store import Position
from a2a_hub.tasks.operations import read_token, write_token

OF = ("client:a", None, (), None)


def test_what_was_written_for_a_list_is_read_for_it() -> None:
    position = Position(1.5, "task-1")
    assert read_token(write_token(position, list_key=OF), list_key=OF) == position


@pytest.mark.parametrize("other", [("client:b", *OF[1:]), (OF[0], "context", *OF[2:])])
def test_a_token_of_another_list_is_none(other: tuple[object, ...]) -> None:
    assert read_token(write_token(Position(1.5, "task-1"), list_key=other), list_key=OF) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[1]",
        b'[1.5,"\xff"]',
        b'{"updated_at":1.5,"task_id":"\xff"}',
        b'[1.5,"\xed\xa0\x80"]',
        b"[" * 300,
        b"1" * 300,
    ],
)
def test_a_token_that_somebody_made_of_anything_is_none(body: bytes) -> None:
    mark = hashlib.blake2b(body + repr(OF).encode(), digest_size=12).digest()
    token = base64.urlsafe_b64encode(mark + body).decode().rstrip("=")
    assert read_token(token, list_key=OF) is None
