"""The operator's settings: the account in the environment, the worker on the command line."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workers.client import SETTINGS_HELP
from workers.workspace.actions import KINDS


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings. `user` owns the Workspace, reached through `account`; without both, it is that of the ADC."""

    roles: tuple[str, ...]
    model: str
    project: str
    location: str
    user: str
    account: str
    may_write: frozenset[str]
    zone: ZoneInfo
    seconds: float
    turns: int
    endpoint: str
    model_endpoint: str


def read(arguments: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Read the settings. Exit with 2 and a line about the first error."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.model = options.model or environ.get("WORKSPACE_MODEL", "")
    user, account = environ.get("WORKSPACE_USER", ""), environ.get("WORKSPACE_ACCOUNT", "")
    if not options.model:
        parser.error("WORKSPACE_MODEL, or --model, has to name a Gemini model, such as gemini-2.5-flash")
    if not any(environ.get(name) for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY", "GEMINI_API_KEY")):
        parser.error("the model needs a GOOGLE_CLOUD_PROJECT, or a GOOGLE_API_KEY")
    if account and not user:
        parser.error("WORKSPACE_ACCOUNT acts for a person: WORKSPACE_USER has to name them")
    endpoints = {name: environ.get(name, "") for name in ("WORKSPACE_ENDPOINT", "VERTEX_AI_ENDPOINT")}
    for name, endpoint in endpoints.items():
        place = urlsplit(endpoint)
        if endpoint and place.scheme != "https" and place.hostname not in ("127.0.0.1", "localhost", "::1"):
            parser.error(f"{name} is {endpoint!r}: it has to be https, or on this machine")
    if options.seconds <= 0 or options.turns <= 0:
        parser.error("--seconds and --turns have to be more than 0")
    return Settings(
        roles=tuple(options.role or ("workspace",)),
        model=options.model,
        project=environ.get("GOOGLE_CLOUD_PROJECT", ""),
        location=environ.get("GOOGLE_CLOUD_LOCATION", "") or "global",
        user=user,
        account=account,
        may_write=frozenset(options.may_write),
        zone=options.time_zone,
        seconds=options.seconds,
        turns=options.turns,
        endpoint=endpoints["WORKSPACE_ENDPOINT"],
        model_endpoint=endpoints["VERTEX_AI_ENDPOINT"],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m workers.workspace",
        description="Work in one person's Google Drive, Docs, Gmail and Calendar, with a Gemini model. The person is asked "
        "before anything happens that others would notice.",
        epilog=f"{SETTINGS_HELP} docs/workspace-worker.md lists those for Google.",
    )
    add = parser.add_argument
    add("--role", action="append", help="a role whose tasks it takes; repeat it for several (workspace)")
    writing = "let it write here too; repeat it for several (it only reads)"
    add("--may-write", action="append", default=[], choices=sorted(KINDS), help=writing)
    add("--time-zone", type=_zone, default="UTC", help="the person's time zone, such as Asia/Tokyo (UTC)")
    add("--seconds", type=float, default=300.0, help="how long one turn of a task may take (300)")
    add("--turns", type=int, default=20, help="how often one turn may call the model (20)")
    add("--model", default="", help="the Gemini model, instead of WORKSPACE_MODEL")
    return parser


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(f"there is no time zone {name!r}") from None
