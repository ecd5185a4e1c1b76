"""The entry point of the hub: `functions-framework --target=hub`."""

import os

from functions.hub import config
from functions.hub.app import build
from shared.flask_adapter import entry_point

hub = entry_point(build(config.read(os.environ)))
