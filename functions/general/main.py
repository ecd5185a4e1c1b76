"""The entry point of the agent for general questions: `functions-framework --target=general`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.general import config
from functions.general.app import build

general = entry_point(build(config.read(os.environ)))
