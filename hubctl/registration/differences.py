"""In what the registered card, which is a snapshot, differs from the one that the agent publishes now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# What Gemini Enterprise acts on or shows. The others differ on purpose: a registered card is a reduced one.
_COMPARED = ("name", "description", "url", "version", "defaultInputModes", "iconUrl")
_OF_SKILLS = ("name", "description", "tags", "examples")


def differences(registered: dict[str, Any], live: dict[str, Any]) -> Iterator[str]:
    """JSON paths and both values, shortened."""
    for name in _COMPARED:
        yield from _compared(f"$.{name}", registered.get(name), live.get(name))
    streams = [bool((card.get("capabilities") or {}).get("streaming")) for card in (registered, live)]
    yield from _compared("$.capabilities.streaming", *streams)
    old, new = _skills(registered), _skills(live)
    for id_ in old.keys() | new.keys():
        if id_ not in new:
            yield f"$.skills: {id_!r} is not published any more"
        elif id_ not in old:
            yield f"$.skills: {id_!r} is new"
        else:
            for name in _OF_SKILLS:
                yield from _compared(f"$.skills[{id_}].{name}", old[id_].get(name), new[id_].get(name))


def _compared(path: str, registered: Any, live: Any) -> Iterator[str]:
    if registered != live:
        yield f"{path}: {_short(registered)} is registered, {_short(live)} is published"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _skills(card: dict[str, Any]) -> dict[str, dict[str, Any]]:
    skills = card.get("skills")
    return {str(skill.get("id")): skill for skill in skills or () if isinstance(skill, dict)}
