"""The entry point of the gate: `functions-framework --target=gate`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.gate import config
from functions.gate.app import build

gate = entry_point(build(config.read(os.environ)))
