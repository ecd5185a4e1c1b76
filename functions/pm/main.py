"""The entry point of the project management agent: `functions-framework --target=pm`."""

import os

from functions.pm.app import build
from shared.agents import settings
from shared.http.flask_adapter import entry_point

pm = entry_point(build(settings.read(os.environ)))
