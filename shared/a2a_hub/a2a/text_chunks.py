"""Merges small chunks of an agent's text that arrive together."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, cast

from msgspec.structs import replace

from a2a_hub.a2a.model import Artifact, Part


def merged(results: Iterable[Any]) -> Iterator[Any]:
    """Yield the results of a stream as they were on the wire, with consecutive texts that append to an artifact merged where
    nothing else differs.

    A result that begins an artifact goes on before the next one is taken, and what was taken before an error goes on before it.
    """
    held: Any = None
    last: dict[str, Any] = {}
    texts: list[str] = []

    def released() -> Any:
        last["text"] = "".join(texts)
        return held

    try:
        for result in results:
            part = _appended_text(result)
            text = "" if part is None else part.pop("text")
            if part is not None and held is not None and result == held:
                texts.append(text)
                continue
            if held is not None:
                yield released()
                held = None
            if part is None:
                yield result
            else:
                held, last, texts = result, part, [text]
    except Exception:
        if held is not None:
            yield released()
        raise
    if held is not None:
        yield released()


def _appended_text(result: Any) -> dict[str, Any] | None:
    """Return the only part of an artifact update that appends text; None for every other result."""
    match result:
        case {"append": True, "artifact": {"parts": [{"text": str()}] as parts}}:
            (part,) = parts
        case {"artifactUpdate": {"append": True, "artifact": {"parts": [{"text": str()}] as parts}}}:
            (part,) = parts
        case _:
            return None
    return cast("dict[str, Any]", part)


def is_same_content(one: Artifact, other: Artifact) -> bool:
    """Return True if the artifacts differ at most in how their texts are cut into parts."""
    return one == other or replace(one, parts=_whole(one.parts)) == replace(other, parts=_whole(other.parts))


def _whole(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return the parts with texts that follow each other as one."""
    whole: list[Part] = []
    for like, group in groupby(parts, _without_text):
        if like is None:
            whole.extend(group)
        else:
            whole.append(replace(like, text="".join(part.text or "" for part in group)))
    return tuple(whole)


def _without_text(part: Part) -> Part | None:
    return None if part.text is None else replace(part, text="")
