"""The entry point of the project management agent: `functions-framework --target=pm`."""

import os

from functions.pm import config
from functions.pm.app import build
from shared.flask_adapter import entry_point

pm = entry_point(build(config.read(os.environ)))
