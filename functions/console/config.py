"""The console's settings."""

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from a2a_hub.http.admission import Limits
from a2a_hub.runtime.function import read_limits
from a2a_hub.settings.reader import LOOPBACK_HOSTS, Settings
from a2a_hub.telemetry.log import Redacted

_AUTHORIZATION_URL = "https://accounts.google.com/o/oauth2/v2/auth"
_TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_MIN_KEY_CHARACTERS = 32


class Google(Redacted, frozen=True, kw_only=True):
    """The OAuth client with which people sign in. `domains` are offered by Google's page; the hub decides who may call it."""

    client_id: str
    client_secret: str
    domains: tuple[str, ...]
    scopes: str
    authorization_url: str
    token_url: str


class Config(Redacted, frozen=True, kw_only=True):
    """The console's settings."""

    public_url: str
    hub_url: str
    session_keys: tuple[str, ...]
    """The first seals cookies, all of them open them."""
    google: Google | None
    takes_tokens: bool
    """True if people may sign in with a token of the hub."""
    one_time_code: str
    """The code of the one link that signs in with `one_time_token`; "" without a link."""
    one_time_token: str
    limits: Limits
    google_cloud_project: str | None

    @property
    def is_local(self) -> bool:
        """True without TLS, on this machine."""
        return urlsplit(self.public_url).scheme == "http"


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    public_url = settings.url("PUBLIC_URL", None)
    parts = urlsplit(public_url)
    is_local = parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS
    if parts.path or (parts.scheme == "http" and not is_local):
        settings.problem("PUBLIC_URL", "must be an https URL without a path, or http on this machine's loopback")
    keys = settings.listed("SESSION_KEY")
    if any(len(key) < _MIN_KEY_CHARACTERS for key in keys) or not (keys or is_local):
        settings.problem("SESSION_KEY", f"must be a secret of {_MIN_KEY_CHARACTERS} characters or more")
    config = Config(
        public_url=public_url,
        hub_url=settings.url("HUB_PUBLIC_URL", None),
        session_keys=keys or (secrets.token_urlsafe(32),),
        google=_google(settings),
        takes_tokens=settings.flag("TOKEN_SIGN_IN"),
        one_time_code=settings.text("SIGN_IN_CODE", ""),
        one_time_token=next(iter(settings.listed("HUB_DEV_TOKEN")), ""),
        limits=read_limits(settings),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
    )
    if not (config.google or config.takes_tokens or config.one_time_code):
        settings.problem("GOOGLE_CLIENT_ID", "is required: nobody could sign in")
    if config.one_time_code and not (is_local and config.one_time_token):
        settings.problem("SIGN_IN_CODE", "is for http on this machine's loopback, with a HUB_DEV_TOKEN")
    settings.check()
    return config


def _google(settings: Settings) -> Google | None:
    client_id, client_secret = settings.optional("GOOGLE_CLIENT_ID"), settings.optional("GOOGLE_CLIENT_SECRET")
    domains = settings.listed("GOOGLE_TOKEN_DOMAINS")
    scopes = settings.text("SIGN_IN_SCOPES", "openid email")
    authorization_url = settings.url("GOOGLE_AUTHORIZATION_URL", _AUTHORIZATION_URL, takes_tokens=True)
    token_url = settings.url("GOOGLE_TOKEN_URL", _TOKEN_URL, takes_tokens=True)
    if (client_id is None) != (client_secret is None):
        settings.problem("GOOGLE_CLIENT_ID", "and GOOGLE_CLIENT_SECRET belong together: set both")
    if client_id is None or client_secret is None:
        return None
    return Google(
        client_id=client_id,
        client_secret=client_secret,
        domains=domains,
        scopes=scopes,
        authorization_url=authorization_url,
        token_url=token_url,
    )
