"""The entry point of the hub: `functions-framework --target=hub`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _hub() -> Handler:
    from functions.hub import config
    from functions.hub.app import build

    return build(config.read(os.environ))


hub = entry_point(_hub)
