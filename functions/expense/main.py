"""The entry point of the expense agent: `functions-framework --target=expense`."""

import os

from a2a_hub.agents import settings
from a2a_hub.http.flask_adapter import entry_point
from functions.expense.app import build

expense = entry_point(build(settings.read(os.environ)))
