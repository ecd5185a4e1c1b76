"""The entry point of the hub: `functions-framework --target=hub`."""

import os

import a2a_hub.runtime.cold_start  # noqa: F401
from a2a_hub.a2a.extensions.tool_confirmation import LATE
from a2a_hub.routing.patterns import compile_all
from a2a_hub.runtime.function import door_of, stdout_log
from a2a_hub.runtime.server import entry_point
from a2a_hub.telemetry.start import start_telemetry
from a2a_hub.text.language import Language
from functions.hub import config, texts
from functions.hub.app import build
from functions.hub.commands import texts as command_texts


def _in_background() -> None:
    """Prepare what the first requests do not wait for; of texts, since a process may have no file left to open later."""
    compile_all()
    for text in (texts.NO_ANSWER, command_texts.HELP, LATE):
        text.render(Language.EN, agent="")


start_telemetry("hub", os.environ)
_config = config.read(os.environ)
_door = door_of(
    _config.limits, stdout_log("hub", project=_config.hub.google_cloud_project), in_background=_in_background
)

hub = entry_point("hub", build(_config, door=_door), _door, on_flask=_config.on_flask)
