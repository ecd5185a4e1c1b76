"""A flood of unknown tokens while Google is slow: it waits in a small place, and those who are known go on."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.http.client import HttpClient
from a2a_hub.identity.authentication import VerifierUnavailable
from a2a_hub.identity.introspection import (
    AccessTokenVerifier,
    IntrospectionCache,
)
from tests.fakes.google_tokens import AUDIENCE
from tests.fakes.http_server import Exchange, HttpServer

_PLACES = 40


def test_a_flood_of_unknown_tokens_is_told_to_come_back() -> None:
    arrived, go_on = threading.Semaphore(0), threading.Event()

    def slow(exchange: Exchange) -> None:
        arrived.release()
        assert go_on.wait(30)
        exchange.answer(400, b'{"error": "invalid_token"}', content_type="application/json")

    with HttpServer(slow) as server, ThreadPoolExecutor(_PLACES) as pool:
        tokens = AccessTokenVerifier(
            audiences=frozenset({AUDIENCE}),
            http=HttpClient(),
            now=time.time,
            userinfo_url=f"{server.url}/userinfo",
            tokeninfo_url=f"{server.url}/tokeninfo",
        )
        flood = [pool.submit(tokens.verify, f"ya29.flood-{number}") for number in range(_PLACES)]
        for _ in flood:
            assert arrived.acquire(timeout=30)
        with pytest.raises(VerifierUnavailable) as refused:
            tokens.verify("ya29.one-more")
        assert refused.value.retry_after_seconds == 5
        go_on.set()
        assert [asked.result() for asked in flood] == [None] * _PLACES
        assert tokens.verify("ya29.one-more") is None


def test_who_is_known_does_not_wait_and_who_has_waited_leaves_their_place() -> None:
    cache: IntrospectionCache[str] = IntrospectionCache(clock=lambda: 0.0, max_waiting=2)
    arrived, go_on = threading.Semaphore(0), threading.Event()

    def slow() -> tuple[str, float]:
        arrived.release()
        assert go_on.wait(30)
        return "facts", 60.0

    def broken() -> tuple[str, float]:
        raise VerifierUnavailable(1)

    assert cache.get("known", lambda: ("known", 60.0)) == "known"
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(cache.get, key, slow) for key in ("one", "two")]
        for _ in asked:
            assert arrived.acquire(timeout=30)
        for key in ("one", "three"):
            with pytest.raises(VerifierUnavailable):
                cache.get(key, slow)
        assert cache.get("known", slow) == "known"
        go_on.set()
        assert [one.result() for one in asked] == ["facts"] * 2
    for _ in range(3):
        with pytest.raises(VerifierUnavailable):
            cache.get("four", broken)
    assert cache.get("one", slow) == "facts"


def test_only_so_many_facts_are_kept_and_the_one_unused_for_longest_goes_first() -> None:
    asked: list[str] = []
    cache: IntrospectionCache[str] = IntrospectionCache(clock=lambda: 0.0, max_entries=2)

    def get(key: str) -> None:
        def ask() -> tuple[str, float]:
            asked.append(key)
            return key, 60.0

        assert cache.get(key, ask) == key

    for key in ("one", "two", "one", "three", "one", "two"):
        get(key)
    assert asked == ["one", "two", "three", "two"]
