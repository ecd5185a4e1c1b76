"""Where the hub is that a command asks, and with what token."""

from collections.abc import Mapping, Sequence

from hubctl.cards.address import parsed
from hubctl.main import CommandError

_LOCAL_PORT = "8080"


def local_hub(environment: Mapping[str, str]) -> str:
    """The address of the run that `make run` starts in the same environment: HUB_PORT, or 8080."""
    return f"http://127.0.0.1:{environment.get('HUB_PORT') or _LOCAL_PORT}"


def hub_address(given: str | None, environment: Mapping[str, str], *, variables: Sequence[str]) -> str:
    """Where the hub is: what was given, else what one of the variables says, else this machine. Raises CommandError."""
    told = {"--url": given} | {name: environment.get(name) for name in variables}
    for name, address in told.items():
        if address:
            return http_address(address, name=name)
    return http_address(local_hub(environment), name="HUB_PORT")


def http_address(address: str, *, name: str) -> str:
    """An address that can be asked. `name` is what told it. Raises CommandError."""
    parts = parsed(address)
    if parts is None or parts.scheme not in ("http", "https"):
        raise CommandError(
            f"{name} is {address!r}, which is not an address: write it like https://hub.example.com"
        )
    return address


def hub_token(given: str | None, environment: Mapping[str, str]) -> str | None:
    """The token that was given, else the first of HUB_DEV_TOKEN; None without either. Raises CommandError."""
    token = given or environment.get("HUB_DEV_TOKEN", "").split(",")[0].strip()
    if not (token.isascii() and token.isprintable()):
        raise CommandError("the token holds characters that no header can carry: is it whole, and a token?")
    return token or None
