"""The entry point of the development agent: `functions-framework --target=devtool`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _devtool() -> Handler:
    from functions.devtool import config
    from functions.devtool.app import build

    return build(config.read(os.environ))


devtool = entry_point(_devtool)
