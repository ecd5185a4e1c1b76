"""The settings of the agent card function: the hub's, since it publishes the hub's card."""

from collections.abc import Mapping

from a2a_hub.settings import hub
from a2a_hub.settings.hub import HubSettings
from a2a_hub.settings.reader import Settings


def read(environ: Mapping[str, str]) -> HubSettings:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    config = hub.read(settings, environ, needs_urls=False)
    settings.check()
    return config
