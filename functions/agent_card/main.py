"""The entry point of the agent card: `functions-framework --target=agent_card`."""

import os

from functions.agent_card import config
from functions.agent_card.app import build
from shared.http.flask_adapter import entry_point

agent_card = entry_point(build(config.read(os.environ)))
