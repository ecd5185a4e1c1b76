"""The entry point of the project management agent: `functions-framework --target=pm`."""

import os

from a2a_hub.agents import settings
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import agent_admission_control
from a2a_hub.telemetry.start import start_telemetry
from functions.pm.app import build

start_telemetry("pm", os.environ)
pm = entry_point(build(settings.read(os.environ)), agent_admission_control("pm", os.environ))
