"""Starts a process with less work."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from shared.http.messages import Handler

T = TypeVar("T")


def entry_point(load: Callable[[], Handler]) -> Callable[[Any], WSGIApplication]:
    """What Functions Framework serves: see `flask_adapter.entry_point`. What is imported in `load` is loaded with less work."""

    def loaded() -> Callable[[Any], WSGIApplication]:
        # msgspec uses it where it is there, for what `typing` has since Python 3.11; to load it takes as long as all of msgspec.
        with without_module("typing_extensions"):
            from shared.http import flask_adapter

        return flask_adapter.entry_point(load())

    return without_collector(loaded)


def without_collector(load: Callable[[], T]) -> T:
    """What `load` makes: it stays, so there is nothing in it to find.

    The collector of cycles rests meanwhile, and never looks at what was loaded until then.
    """
    gc.disable()
    try:
        return load()
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """Meanwhile, a module that is not loaded yet is as if it was not installed."""
    if name in sys.modules:
        yield
        return
    # The import system's own way to say that there is none (docs.python.org, sys.modules).
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(name, None)
