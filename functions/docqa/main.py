"""The entry point of the document QA agent: `functions-framework --target=docqa`."""

import os

from a2a_hub.http.flask_adapter import entry_point
from functions.docqa import config
from functions.docqa.app import build

docqa = entry_point(build(config.read(os.environ)))
