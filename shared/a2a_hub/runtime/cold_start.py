"""Starts a process with less work."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from a2a_hub.runtime import module_archive

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from a2a_hub.http.messages import Handler

T = TypeVar("T")


def entry_point(load: Callable[[], Handler]) -> Callable[[Any], WSGIApplication]:
    """What Functions Framework serves: see `flask_adapter.entry_point`. What is imported in `load` is loaded with less work."""

    def loaded() -> Callable[[Any], WSGIApplication]:
        module_archive.use(Path(__file__).resolve().parents[2])
        # msgspec uses it where it is installed, for what `typing` has had since Python 3.11; loading it takes as long as msgspec.
        with without_module("typing_extensions"):
            from a2a_hub.http import flask_adapter

        return flask_adapter.entry_point(load())

    return without_collector(loaded)


def without_collector(load: Callable[[], T]) -> T:
    """What `load` returns. The garbage collector rests meanwhile, and from then on leaves alone what was loaded: it is needed
    until the process ends.
    """
    gc.disable()
    try:
        return load()
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """Meanwhile, a module that is not loaded yet seems not to be installed."""
    if name in sys.modules:
        yield
        return
    # The import system's own way to say that there is none (docs.python.org, sys.modules).
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(name, None)
