"""The entry point of the tasks function: `functions-framework --target=tasks`."""

import os

from functions.tasks import config
from functions.tasks.app import build
from shared.http.flask_adapter import entry_point

tasks = entry_point(build(config.read(os.environ)))
