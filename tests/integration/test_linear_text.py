"""A hostile text costs as much as it is long, in every function, and others are answered while it is read."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from a2a_hub.agents.function import MAX_TEXT_CHARACTERS
from tests.fakes.every_function import (
    FUNCTIONS,
    JSON_RPC,
    REST,
    Neighbours,
    handler_of,
    headers_of,
    neighbours,
    post,
    request_with,
    settings_of,
)
from tests.integration.gates import function

HOSTILE = {
    "alternating marks": "\u0301\u0316",
    "marks on a letter": "e\u0301\u0316\u0301\u0316",
    "marks of several scripts": "\u0301\uff9e\u0f73\u0316\uff9f",
    "marks around invisible characters": "\u0301\u0316\u200d\u2060",
    "marks around joiners": "\u0301\u0316\u034f",
    "Hangul jamo": "\u1100\u1161\u11a8",
    "leading jamo": "\u1100",
    "long ligatures": "\ufdfa",
    "case folding": "\u0130\u1f80\ufb03",
    "surrogates": "\ud800",
    "bidi": "\u202e\u202c",
    "zero width": "\u200b",
    "emoji": "\U0001f469\u200d\U0001f469\u200d",
    "blanks": " ",
    "wide blanks": "\u3000",
    "lines": "\n",
    "short lines": "a\n",
    "quotes": ">",
    "quoted lines": "> a\n",
    "rules": "--\n",
    "signatures": "best regards\n",
    "mail": "on monday a wrote:\n",
    "courtesies": "お世話になっております。",
    "brackets": "[",
    "links": "[](",
    "uploads": "<start_of_user_uploaded_file: ",
    "digits": "1",
    "amounts": "1,",
    "dates": "2024-01-01 ",
    "years": "2024年1月1日",
    "one word": "a",
    "words": "a ",
    "kana": "の",
    "kanji": "日",
    "katakana": "ア",
    "addresses": "http://",
    "paths": "/a",
    "quotation marks": '"',
    "apostrophes": "it's ",
    "Japanese quotation marks": "「",
    "commas": "、",
    "sentences": "か。",
    "questions": "?",
    "points": "a. ",
    "conjunctions": " and",
    "comparisons": "compare a and ",
    "codes": "P-1, ",
    "levels": "P-",
    "markdown": "*_`",
    "cells": "| ",
    "control characters": "\x00\x0b",
}
# Of these, as much as a body may hold.
ENDLESS = (
    "alternating marks",
    "Hangul jamo",
    "long ligatures",
    "surrogates",
    "blanks",
    "lines",
    "quotes",
    "brackets",
    "digits",
    "one word",
    "kana",
    "addresses",
)
# For a worker of such roles there is no task, no role is that long, and the card takes no messages.
_READ = (200, 204, 400, 404, 405)
_LIMIT_BYTES = 9_900_000
_MAX_RATIO = 2.2
# What a request may cost besides its text, and what a character may cost where memory is contended (a body of five
# million is decoded, copied and matched at 20 to 110 ns each): anything worse than linear takes many seconds at these lengths.
_NOISE_SECONDS = 0.15
_NOISE_SECONDS_PER_CHARACTER = 300e-9
_ROUNDS = 8


@pytest.fixture(scope="module")
def near() -> Iterator[Neighbours]:
    """The servers around the functions."""
    with neighbours() as servers:
        yield servers


# The bindings read a text alike in every function: for one of them both are tried.
@pytest.mark.parametrize(("name", "binding"), [*((name, JSON_RPC) for name in FUNCTIONS), ("hub", REST)])
def test_twice_the_text_costs_at_most_a_little_more_than_twice_the_time(
    tmp_path: Path, near: Neighbours, name: str, binding: str
) -> None:
    handle = handler_of(name, settings_of(name, tmp_path, near))

    def costs(words: str) -> float:
        path, body = request_with(words, name, binding)
        start = time.process_time()
        status = post(handle, path, body, name).status
        spent = time.process_time() - start
        assert status in _READ
        return spent

    costs("hello")
    grown = {}
    for label, piece in HOSTILE.items():
        for characters in _lengths(label, name, binding):
            if ratio := _growth(costs, (piece * (characters // len(piece) + 1))[:characters]):
                grown[label, characters] = ratio
    assert not grown


def _lengths(label: str, name: str, binding: str) -> Iterator[int]:
    """The longest text that an agent reads, and for some the longest in a body."""
    yield MAX_TEXT_CHARACTERS
    if label in ENDLESS:
        piece = HOSTILE[label]
        yield _LIMIT_BYTES // len(request_with(piece * 1000, name, binding)[1]) * 1000 * len(piece)


def _growth(costs: Callable[[str], float], words: str) -> str:
    """How much more the text costs than its half, if that is more than it may be; each at its cheapest in several rounds.

    Where memory is taken in large pieces one doubling costs more and the next one less: then two of them count.
    """
    quarter = half = whole = float("inf")
    noise = max(_NOISE_SECONDS, _NOISE_SECONDS_PER_CHARACTER * len(words))
    for _ in range(_ROUNDS):
        half = min(half, costs(words[: len(words) // 2]))
        whole = min(whole, costs(words))
        if whole <= max(_MAX_RATIO * half, noise):
            return ""
        quarter = min(quarter, costs(words[: len(words) // 4]))
        if whole <= _MAX_RATIO**2 * quarter:
            return ""
    return f"{quarter:.3f} s, {half:.3f} s, {whole:.3f} s"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_others_are_answered_while_hostile_texts_are_read(tmp_path: Path, near: Neighbours, name: str) -> None:
    with function(name, tmp_path, **settings_of(name, tmp_path, near)) as running:
        enough, worked_on = threading.Event(), threading.Semaphore(0)

        def send(words: str) -> int:
            path, body = request_with(words, name, JSON_RPC)
            with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)) as connection:
                connection.request("POST", path, body=body, headers=headers_of(name))
                return connection.getresponse().status

        def attack() -> None:
            hostile = [HOSTILE[label] for label in ("alternating marks", "long ligatures", "kanji", "blanks")]
            while not enough.is_set():
                for piece in hostile:
                    worked_on.release()
                    with suppress(OSError, http.client.HTTPException):
                        send((piece * MAX_TEXT_CHARACTERS)[: MAX_TEXT_CHARACTERS - 1])

        attacker = threading.Thread(target=attack)
        attacker.start()
        try:
            for _ in range(5):
                worked_on.acquire()
                assert send("hello") in _READ
        finally:
            enough.set()
            attacker.join()
