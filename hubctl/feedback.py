"""Ratings in the log as labelled questions, for a person to review."""

from collections.abc import Iterable, Iterator
from typing import Any

from hubctl.log_lines import Fields


def labelled(lines: Iterable[Fields]) -> Iterator[str]:
    """Yield one line for each rated question, as `hubctl evaluate FILE` reads them: those rated as bad are commented out."""
    turns: dict[str, Fields] = {}
    latest: dict[str, Fields] = {}
    rated: dict[str, dict[str, Any]] = {}
    for line in lines:
        if verdict := line.get("feedback"):
            # Of another instance's turn, the rating knows only the conversation.
            turn = turns.get(str(line.get("turn"))) or latest.get(str(line.get("conversation")))
            if turn:
                rated.setdefault(str(turn["requestId"]), {}).update(turn, feedback=verdict, comment=line.get("comment"))
        elif line.get("route") and line.get("requestId"):
            turns[str(line["requestId"])] = latest[str(line.get("conversation"))] = line
    with_text = [each for each in rated.values() if each.get("text")]
    yield f"# {len(with_text)} rated questions, for review: check the label, the route id after the tab."
    if without := len(rated) - len(with_text):
        yield f"# {without} more have no text in the log: LOG_TEXT was not true."
    for each in with_text:
        about = [each["feedback"], each["requestId"], each.get("outcome"), each.get("rule"), each.get("comment")]
        yield f"# {', '.join(_flat(part) for part in about if part)}"
        yield f"{'' if each['feedback'] == 'good' else '# '}{_flat(each['text'])}\t{each['route']}"


def _flat(text: object) -> str:
    return " ".join(str(text).split())
