"""The entry point of the expense agent: `functions-framework --target=expense`."""

import os

from a2a_hub.agents import settings
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import agent_admission_control
from a2a_hub.telemetry.start import start_telemetry
from functions.expense.app import build

start_telemetry("expense", os.environ)
expense = entry_point(build(settings.read(os.environ)), agent_admission_control("expense", os.environ))
