"""The entry point of the project management agent: `functions-framework --target=pm`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared.loading import entry_point

if TYPE_CHECKING:
    from shared.http.messages import Handler


def _pm() -> Handler:
    from functions.pm.app import build
    from shared.agents import settings

    return build(settings.read(os.environ))


pm = entry_point(_pm)
