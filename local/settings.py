"""The settings of a local run, and the keys with which its functions sign."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from local.functions import KeyPair
from local.ports import LOOPBACK, free_ports, why_not_free


class NotStartable(Exception):
    """Settings that do not allow a start; the message names them and a remedy."""


def key_pair() -> KeyPair:
    """Return a new key."""
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return KeyPair(private.decode(), public.decode())


def new_keys() -> Mapping[str, KeyPair]:
    """Return a new key for each function that signs."""
    return {name: key_pair() for name in ("gate", "hub", "tasks")}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A run's address, tokens and folder."""

    port: int
    dev_token: str
    """One token for each caller, separated by commas."""
    folder: Path
    """The folder of the generated configuration and the logs."""
    has_gateway: bool = True
    """True if Envoy is in front; without it, the gate itself listens on `port`."""
    has_cloud: bool = False
    """True if the functions use stand-ins for Google Cloud's services."""
    grpc_python: Path | None = None
    """The interpreter that runs `services/grpc`; None leaves it out."""
    signing_keys: Mapping[str, KeyPair] = field(default_factory=new_keys, repr=False)
    """The keys with which functions sign principal headers: others in each run."""
    sign_in_code: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """The code of the link that signs in at the console, once."""
    start_timeout_seconds: float = 120.0

    @property
    def url(self) -> str:
        """The one address callers use."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def first_token(self) -> str:
        """The token of one caller."""
        return self.dev_token.split(",")[0]


def settings_from(environment: Mapping[str, str], *, runs: Path) -> Settings:
    """Read `HUB_PORT` (0 takes a free one), `HUB_DEV_TOKEN` (generated when unset), `GATEWAY` (1 or 0), `GRPC` (1 or 0),
    `CLOUD` (local, or nothing) and `PRIVATE` (expense, or nothing). Raises NotStartable.
    """
    wanted = environment.get("HUB_PORT") or "8080"
    if not wanted.isascii() or not wanted.isdigit() or int(wanted) > 65535:
        raise NotStartable(f"HUB_PORT is {wanted!r}; it has to be a port number, like 8080")
    port = int(wanted) or free_ports(1)[0]
    tokens = [token.strip() for token in environment.get("HUB_DEV_TOKEN", "").split(",")]
    dev_token = ",".join(filter(None, tokens)) or secrets.token_urlsafe(24)
    gateway = environment.get("GATEWAY") or "1"
    if gateway not in ("0", "1"):
        raise NotStartable(f"GATEWAY is {gateway!r}; it has to be 1, or 0 to leave the gateway out")
    grpc = environment.get("GRPC") or "0"
    if grpc not in ("0", "1"):
        raise NotStartable(f"GRPC is {grpc!r}; it has to be 1 for gRPC in front of the hub, or 0")
    cloud = environment.get("CLOUD") or ""
    if cloud not in ("", "local"):
        raise NotStartable(f"CLOUD is {cloud!r}; it has to be local, or nothing to run without a cloud")
    private = environment.get("PRIVATE") or ""
    if private and (private, cloud) != ("expense", "local"):
        raise NotStartable(f"PRIVATE is {private!r}; it has to be expense, with CLOUD=local, or nothing")
    return Settings(
        port=port,
        dev_token=dev_token,
        folder=runs / str(port),
        has_gateway=gateway == "1",
        grpc_python=runs / "grpc" / "bin" / "python" if grpc == "1" else None,
        has_cloud=cloud == "local",
    )


def require_free(port: int) -> None:
    """Check that `port` of this machine's loopback is free. Raises NotStartable."""
    if reason := why_not_free(port):
        other = port + 1 if port < 65535 else port - 1
        raise NotStartable(
            f"port {port} cannot be used ({reason}). "
            f"Stop the program that holds it, or choose another port: HUB_PORT={other} make run"
        )
