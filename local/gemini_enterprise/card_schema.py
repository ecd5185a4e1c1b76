"""What the registration has against a card: the 0.3 JSON schema, and no field beyond it."""

from __future__ import annotations

import json

from hubctl.cards.card import Departure, Missing, Unknown, departures
from local.cloud.api_errors import ApiError


def check(text: str) -> dict[str, object]:
    """The card that `text` holds. Raises ApiError INVALID_ARGUMENT with the first thing that is wrong."""
    try:
        card = json.loads(text)
    except ValueError:
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: parse error") from None
    for found in departures(card):
        raise ApiError("INVALID_ARGUMENT", _said(found))
    if not str(card["url"]).startswith("https://"):
        raise ApiError("INVALID_ARGUMENT", "Invalid agent card: url must use https")
    checked: dict[str, object] = card
    return checked


def _said(found: Departure) -> str:
    match found:
        case Missing(name=name):
            return f"required property '{name}' not found in object"
        case Unknown(name=name):
            return f"validation failed for additional property '{name}': instance invalid as per false-schema"
        case _:
            return f"At {_pointer(found.path)} - unexpected instance type"


def _pointer(path: str) -> str:
    return path.removeprefix("$").replace("[", "/").replace("]", "").replace(".", "/") or "/"
