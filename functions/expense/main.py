"""The entry point of the expense agent: `functions-framework --target=expense`."""

import os

from functions.expense import config
from functions.expense.app import build
from shared.flask_adapter import entry_point

expense = entry_point(build(config.read(os.environ)))
