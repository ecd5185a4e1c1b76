"""The entry point of the project management agent: `functions-framework --target=pm`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _pm() -> Handler:
    from a2a_hub.agents import settings
    from functions.pm.app import build

    return build(settings.read(os.environ))


pm = entry_point(_pm)
