"""The entry point of the project management agent: `functions-framework --target=pm`."""

import os

from a2a_hub.agents import settings
from a2a_hub.http.flask_adapter import entry_point
from functions.pm.app import build

pm = entry_point(build(settings.read(os.environ)))
