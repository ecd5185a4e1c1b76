"""The entry point of the hub: `functions-framework --target=hub`."""

import os

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS
from a2a_hub.routing.patterns import compile_all
from a2a_hub.runtime.function import admission_control, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from functions.hub import config
from functions.hub.app import build
from functions.hub.commands.texts import COMMAND_TEXTS
from functions.hub.downstream.containment import remedies
from functions.hub.failure import FAILURES
from functions.hub.texts import HUB_TEXTS


def _in_background() -> None:
    """Prepare what the first requests do not wait for; of texts, since a process may have no file left to open later."""
    compile_all()
    _ = FAILURES.templates, remedies()
    for texts in (HUB_TEXTS, COMMAND_TEXTS, TOOL_TEXTS):
        texts.read()


start_telemetry("hub", os.environ)
_config = config.read(os.environ)
_admission = admission_control(
    _config.limits, stdout_log("hub", project=_config.hub.google_cloud_project), in_background=_in_background
)

hub = entry_point("hub", build(_config, admission=_admission), _admission, on_flask=_config.on_flask)
