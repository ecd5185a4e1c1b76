"""The entry point of the console: `functions-framework --target=console`."""

import os

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.runtime.function import admission_control, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.console import config
from functions.console.app import build

start_telemetry("console", os.environ)
_config = config.read(os.environ)
_log = stdout_log("console", project=_config.google_cloud_project)
_admission = admission_control(_config.limits, _log)

console = entry_point("console", build(_config, log=_log, admission=_admission), _admission, on_flask=False)
