"""The entry point of the development agent: `functions-framework --target=devtool`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import agent_admission_control
from a2a_hub.telemetry.start import start_telemetry
from functions.devtool import config
from functions.devtool.app import build
from functions.devtool.programs import hide_environment

hide_environment()
start_telemetry("devtool", os.environ)
devtool = entry_point(build(config.read(os.environ)), agent_admission_control("devtool", os.environ))
