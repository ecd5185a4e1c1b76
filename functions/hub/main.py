"""The entry point of the hub: `functions-framework --target=hub`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.loading import entry_point

if TYPE_CHECKING:
    from shared.http.messages import Handler


def _hub() -> Handler:
    # Imported in here: nearly all of a start is importing.
    from functions.hub import config
    from functions.hub.app import build

    return build(config.read(os.environ))


hub = entry_point(_hub)
