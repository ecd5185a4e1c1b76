"""The entry point of the agent for general questions: `functions-framework --target=general`."""

import os

from a2a_hub.agents import settings
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import agent_admission_control
from a2a_hub.telemetry.start import start_telemetry
from functions.general.app import build

start_telemetry("general", os.environ)
general = entry_point(build(settings.read(os.environ)), agent_admission_control("general", os.environ))
