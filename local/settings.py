"""The settings of a local run, the keys with which its functions sign, and the environment of each function."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from local.functions import LocalFunction
from local.ports import LOOPBACK, free_ports, why_not_free

WORKSPACE = "workspace"
"""The folder of a run with the files that the development agent works on."""
# One developer, and whatever load a test or a benchmark makes.
WITHOUT_QUOTAS = dict.fromkeys(
    (
        "RATE_LIMIT_PER_MINUTE",
        "QUOTA_ANONYMOUS_PER_MINUTE",
        "QUOTA_STREAMS",
        "QUOTA_RUNNING_TASKS",
        "QUOTA_STORED_TASKS",
    ),
    "0",
)
# Every machine has them, and none of them can change a file, or show what is in one outside the workspace.
_HARMLESS = "ls,pwd,echo,sleep"

# What a function would wrongly take from a developer's own shell.
_NOT_INHERITED = frozenset(
    {
        "CALLER_TOKEN_HEADER",
        "CLOUD_RUN_TIMEOUT_SECONDS",
        "DEBUG",
        "FUNCTION_SIGNATURE_TYPE",
        "FUNCTION_SOURCE",
        "FUNCTION_TARGET",
        "GATE_PUBLIC_KEYS",
        "GATE_SIGNING_KEY",
        "HOST",
        "HUB_DEV_TOKEN",
        "HUB_PUBLIC_KEYS",
        "K_SERVICE",
        "PORT",
        "PUBLIC_URL",
        "PYTHONPATH",
        "SESSION_KEY",
        "SIGNING_KEY",
        "SIGN_IN_CODE",
        "TASKS_PUBLIC_KEYS",
        "WEB_CONCURRENCY",
        "WORKERS",
    }
)


class NotStartable(Exception):
    """Settings that do not allow a start; the message names them and a remedy."""


class KeyPair(NamedTuple):
    """The halves of a function's key (P-256), in PEM."""

    private: str
    public: str


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


def key_settings(name: str, *, trusts: Iterable[str], keys: Mapping[str, KeyPair]) -> dict[str, str]:
    """Return the settings with which a function signs, if it has a key, and knows the functions that it trusts."""
    public = {f"{other.upper()}_PUBLIC_KEYS": keys[other].public for other in trusts}
    return public | ({"SIGNING_KEY": keys[name].private} if name in keys else {})


def environment_of(
    function: LocalFunction, settings: Settings, *, inherited: Mapping[str, str], urls: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of one process of a run. `urls` maps each function's name to its address on this machine."""
    environment = {name: value for name, value in inherited.items() if name not in _NOT_INHERITED}
    environment = WITHOUT_QUOTAS | environment
    name = function.name
    is_of_the_hub = function.reads_routes or name == "gate"
    environment |= {
        # gunicorn would take SCRIPT_NAME and PATH_INFO from the headers of callers on this machine.
        "FORWARDED_ALLOW_IPS": "",
        "HUB_PUBLIC_URL": settings.url,
        # An agent is called directly, everything else at the one public address.
        "PUBLIC_URL": settings.url if is_of_the_hub else urls[name],
        "PYTHONUNBUFFERED": "1",
        "THREADS": str(function.threads),
        # As a deployment has it.
        "MALLOC_MMAP_THRESHOLD_": "131072",
    }
    # A bundle stands before the package of the source tree, which this environment may hold as well.
    environment["PYTHONPATH"] = str(function.python_path or function.source.parent)
    if is_of_the_hub:
        # An address that the operator has set is that of an agent of their own, which takes the place of the one here.
        addresses = {f"{other.upper()}_URL": url for other, url in urls.items() if other != name}
        # Nothing on this machine's loopback stands in front of a function and checks an ID token; agents may be elsewhere.
        credentials = "remote" if name == "hub" else "none"
        environment = {"IAM_CREDENTIALS": credentials} | addresses | environment
        # Files that the next start can reuse, as the index of documents below.
        environment = {"TASK_STORE": f"sqlite:{settings.folder / 'tasks.sqlite3'}"} | environment
    if name == "docqa":
        environment = {"CORPUS_INDEX": str(settings.folder / "corpus-index.sqlite3")} | environment
    if name == "devtool":
        if "DEVTOOL_WORKSPACES" not in environment:
            folder = str(settings.folder / WORKSPACE)
            environment |= {"DEVTOOL_WORKSPACES": folder, "DEVTOOL_DEFAULT_WORKSPACE": folder}
        if environment.get("DEVTOOL_WORKSPACE_PER_PERSON", "false") == "false":
            environment = {"DEVTOOL_COMMANDS": _HARMLESS} | environment
        # Tasks of its own; and nothing on this machine's loopback authenticates callers.
        environment |= {
            "TASK_STORE": f"sqlite:{settings.folder / f'{name}-tasks.sqlite3'}",
            "ALLOW_ANONYMOUS": "true",
            "ANONYMOUS_SUBJECT": "this-machine",
        }
    if name in ("hub", "tasks") and "tasks" in urls:
        environment = {"WAKEUPS": f"local:{urls['tasks']}/wakeups"} | environment
    environment |= key_settings(name, trusts=function.trusts, keys=settings.signing_keys)
    if name in ("gate", "tasks", "console"):
        # Workers may use the development tokens if they have none of their own, and people sign in with one.
        environment["HUB_DEV_TOKEN"] = settings.dev_token
    if name == "console":
        environment |= {"SIGN_IN_CODE": settings.sign_in_code, "TOKEN_SIGN_IN": "true"}
    if name == "gate":
        environment["CALLER_TOKEN_HEADER"] = "x-forwarded-authorization" if settings.has_gateway else "authorization"
    return environment
