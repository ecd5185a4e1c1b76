"""The entry point of the document QA agent: `functions-framework --target=docqa`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _docqa() -> Handler:
    from functions.docqa import config
    from functions.docqa.app import build

    return build(config.read(os.environ))


docqa = entry_point(_docqa)
