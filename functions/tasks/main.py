"""The entry point of the tasks function: `functions-framework --target=tasks`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.tasks import config
from functions.tasks.app import build

tasks = entry_point(build(config.read(os.environ)))
