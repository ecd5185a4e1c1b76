"""The entry point of the tasks function: `functions-framework --target=tasks`."""

import os

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.runtime.function import admission_control, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.tasks import config
from functions.tasks.app import build

start_telemetry("tasks", os.environ)
_config = config.read(os.environ)
_log = stdout_log("tasks", project=_config.hub.google_cloud_project)
_admission = admission_control(_config.limits, _log)

tasks = entry_point("tasks", build(_config, log=_log, admission=_admission), _admission, on_flask=False)
