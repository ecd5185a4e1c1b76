"""The entry point of the gate: `functions-framework --target=gate`."""

import os

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.runtime.function import admission_control, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.gate import config
from functions.gate.app import build

start_telemetry("gate", os.environ)
_config = config.read(os.environ)
_log = stdout_log("gate", project=_config.google_cloud_project, is_entrance=True)
_admission = admission_control(_config.limits, _log)

gate = entry_point("gate", build(_config, admission=_admission), _admission, on_flask=_config.on_flask)
