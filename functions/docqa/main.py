"""The entry point of the document QA agent: `functions-framework --target=docqa`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import agent_admission_control
from a2a_hub.telemetry.start import start_telemetry
from functions.docqa import config
from functions.docqa.app import build

start_telemetry("docqa", os.environ)
docqa = entry_point(build(config.read(os.environ)), agent_admission_control("docqa", os.environ))
