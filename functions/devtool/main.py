"""The entry point of the development agent: `functions-framework --target=devtool`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.devtool import config
from functions.devtool.app import build

devtool = entry_point(build(config.read(os.environ)))
