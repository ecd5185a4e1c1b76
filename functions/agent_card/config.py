"""The settings of the agent card function: the hub's, since it publishes the hub's card."""

from __future__ import annotations

from collections.abc import Mapping

from shared import hub_settings
from shared.hub_settings import HubSettings
from shared.settings import Settings


def read(environ: Mapping[str, str]) -> HubSettings:
    """The settings in `environ`. Raises SettingsError with every error at once."""
    settings = Settings(environ)
    config = hub_settings.read(settings, environ, needs_urls=False)
    settings.check()
    return config
