"""The entry point of the agent card: `functions-framework --target=agent_card`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _agent_card() -> Handler:
    from functions.agent_card import config
    from functions.agent_card.app import build

    return build(config.read(os.environ))


agent_card = entry_point(_agent_card)
