"""The entry point of the hub: `functions-framework --target=hub`."""

import os

from shared.flask_adapter import entry_point
from shared.http import Handler
from shared.loading import without_collector


def _hub() -> Handler:
    # Imported in here, since importing is the most of what there is to load.
    from functions.hub import config
    from functions.hub.app import build

    return build(config.read(os.environ))


hub = entry_point(without_collector(_hub))
