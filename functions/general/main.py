"""The entry point of the agent for general questions: `functions-framework --target=general`."""

import os

from functions.general import config
from functions.general.app import build
from shared.http.flask_adapter import entry_point

general = entry_point(build(config.read(os.environ)))
