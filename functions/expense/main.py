"""The entry point of the expense agent: `functions-framework --target=expense`."""

import os

from functions.expense.app import build
from shared import agent_settings
from shared.http.flask_adapter import entry_point

expense = entry_point(build(agent_settings.read(os.environ)))
