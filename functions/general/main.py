"""The entry point of the agent for general questions: `functions-framework --target=general`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _general() -> Handler:
    from functions.general import config
    from functions.general.app import build

    return build(config.read(os.environ))


general = entry_point(_general)
