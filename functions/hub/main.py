"""The entry point of the hub: `functions-framework --target=hub`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.hub import config
from functions.hub.app import build

hub = entry_point(build(config.read(os.environ)))
