"""The entry point of the tasks function: `functions-framework --target=tasks`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.tasks import config
from functions.tasks.app import build

start_telemetry("tasks", os.environ)
tasks = entry_point(build(config.read(os.environ)))
