"""The entry point of the expense agent: `functions-framework --target=expense`."""

import os

from functions.expense.app import build
from shared.agents import settings
from shared.http.flask_adapter import entry_point

expense = entry_point(build(settings.read(os.environ)))
