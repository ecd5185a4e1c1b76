"""The entry point of the gate: `functions-framework --target=gate`."""

import os

from functions.gate import config
from functions.gate.app import build
from shared.http.flask_adapter import entry_point

gate = entry_point(build(config.read(os.environ)))
