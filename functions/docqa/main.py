"""The entry point of the document QA agent: `functions-framework --target=docqa`."""

import os

from functions.docqa import config
from functions.docqa.app import build
from shared.http.flask_adapter import entry_point

docqa = entry_point(build(config.read(os.environ)))
