"""The entry point of the agent for general questions: `functions-framework --target=general`."""

import os

from functions.general.app import build
from shared import agent_settings
from shared.flask_adapter import entry_point

general = entry_point(build(agent_settings.read(os.environ)))
