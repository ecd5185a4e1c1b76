"""`hubctl doctor`: step by step what works and what does not, with the exact command that mends it."""

import argparse
from collections.abc import Mapping
from typing import TextIO

import msgspec

from a2a_hub.diagnosis.report import Examined
from a2a_hub.http.client import HttpClient
from hubctl.connection import hub_address, hub_token
from hubctl.diagnosis.entrance import Entrance
from hubctl.diagnosis.table import as_json, as_text, has_errors
from hubctl.main import CommandError
from hubctl.registration.target import LOCATIONS, Endpoints, Target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    add = parser.add_argument
    add("--url", help="where the hub is (HUB_URL, HUB_PUBLIC_URL, else this machine at HUB_PORT, 8080)")
    add("--token", help="an operator's bearer token (HUB_DEV_TOKEN)")
    add("--name-prefix", metavar="TEXT", default="a2a-", help="name_prefix of deploy.toml (a2a-)")
    add("--project", help="with --app: the Google Cloud project (GOOGLE_CLOUD_PROJECT)")
    add("--app", help="also examine what is registered in this app (GEMINI_ENTERPRISE_APP)")
    add("--location", choices=LOCATIONS, help="the app's location (GEMINI_ENTERPRISE_LOCATION, else global)")
    add(
        "--authorization",
        default="a2a-hub",
        metavar="ID",
        help="the agent's authorization (a2a-hub)",
    )
    add("--endpoint", metavar="URL", help="a stand-in for Google's hosts: URL with {host} (GOOGLE_ENDPOINT)")
    add("--json", action="store_true", help="write one JSON object")


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """0 when everything works, 1 when something does not. Raises CommandError."""
    url = hub_address(arguments.url, environment, variables=("HUB_URL", "HUB_PUBLIC_URL"))
    token = hub_token(arguments.token, environment)
    http = HttpClient()
    report = Entrance(url, token=token, prefix=arguments.name_prefix, http=http).report()
    registered = _registered(arguments, environment, url, http)
    if registered is not None:
        report = msgspec.structs.replace(report, examined=(*report.examined, registered))
    print(as_json(report) if arguments.json else "\n".join(as_text(report)), file=out)
    return 1 if has_errors(report) else 0


def _registered(
    arguments: argparse.Namespace, environment: Mapping[str, str], url: str, http: HttpClient
) -> Examined | None:
    from hubctl.diagnosis.registration import examine_registration
    from hubctl.registration import oauth
    from hubctl.registration.api import Api, operators_token

    app = arguments.app or environment.get("GEMINI_ENTERPRISE_APP")
    project = arguments.project or environment.get("GOOGLE_CLOUD_PROJECT")
    if not app:
        return None
    if not project:
        raise CommandError(f"in which project is the app {app}? Give --project PROJECT")
    location = arguments.location or environment.get("GEMINI_ENTERPRISE_LOCATION") or "global"
    target = Target(
        project=project,
        location=location,
        app=app,
        authorization_id=arguments.authorization,
        authorization_location=location,
    )
    api = Api(
        target=target,
        endpoints=Endpoints(arguments.endpoint or environment.get("GOOGLE_ENDPOINT") or None),
        access_token=operators_token(environment),
        http=http,
    )
    client = oauth.read_client(client_id=None, secret_file=None, environment=environment)
    return examine_registration(api, url=url, client=client)
