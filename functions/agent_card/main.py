"""The entry point of the agent card: `functions-framework --target=agent_card`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.agent_card import config
from functions.agent_card.app import build

agent_card = entry_point(build(config.read(os.environ)))
