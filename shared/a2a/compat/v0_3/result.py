"""Results of any operation that 0.3 has, in 0.3's JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from shared.a2a.card import AgentCard
from shared.a2a.compat.v0_3.card import to_compat_card
from shared.a2a.compat.v0_3.dialect import Dialect
from shared.a2a.compat.v0_3.event import to_compat_event
from shared.a2a.model import Event


def to_compat_result(value: Event | msgspec.Struct, dialect: Dialect) -> Any:
    """An event or a card in 0.3's JSON. Raises TypeError for a result that 0.3 does not have."""
    match value:
        case AgentCard():
            return to_compat_card(value)
        case _ if isinstance(value, Event):
            return to_compat_event(value, dialect)
        case _:
            raise TypeError(f"A2A 0.3 has no {type(value).__name__}")
