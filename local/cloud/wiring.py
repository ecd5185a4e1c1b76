"""`make run CLOUD=local`: the stand-ins, and the settings that each gives to functions. No other place names all of them.

A stand-in more is a row more in STAND_INS: a name, the module that is started as `python -m MODULE --port PORT ARGUMENTS…`
(it ends in `local.cloud.program.serve`, and answers `GET /__faults`), its other arguments, and the settings that it gives to
functions. Arguments and settings are made from the addresses of all programs, functions and stand-ins, by name. A stand-in
that takes access tokens is given `issuers(urls)`, and asks there whose they are (`local.cloud.accounts.Accounts`). Another
account is another process, with a key of its own.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from local.cloud import discovery_engine, metadata
from local.cloud.cloud_run import EVERYBODY
from local.functions import ROOT

HUB_PROJECT = "my-hub-project"
HUB_ACCOUNT = f"hub@{HUB_PROJECT}.iam.gserviceaccount.com"
GATE_ACCOUNT = f"gate@{HUB_PROJECT}.iam.gserviceaccount.com"
DOCQA_ACCOUNT = f"docqa@{HUB_PROJECT}.iam.gserviceaccount.com"
GENERAL_ACCOUNT = f"general@{HUB_PROJECT}.iam.gserviceaccount.com"
DEVTOOL_PROJECT = "my-workspace-project"
DEVTOOL_ACCOUNT = f"devtool@{DEVTOOL_PROJECT}.iam.gserviceaccount.com"
EXPENSE_PROJECT, PARTNER_PROJECT = "my-expense-project", "partner-project"
EXPENSE_ACCOUNT = f"expense@{EXPENSE_PROJECT}.iam.gserviceaccount.com"
PM_ACCOUNT = f"pm@{PARTNER_PROJECT}.iam.gserviceaccount.com"
OPERATOR, OPERATOR_TOKEN = "operator@example.com", "operator"
BUCKET = DATA_STORE = "sample-documents"
MODEL = "gemini-2.5-flash"

CLOUD_FILE = "cloud.json"
"""Where a run writes down the addresses of its stand-ins, by name."""
_NOT_THE_DEVELOPERS = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_QUOTA_PROJECT")

Urls = Mapping[str, str]
Environments = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A program of the local cloud."""

    name: str
    """The name in reports, and that of its address among the addresses."""
    module: str
    arguments: Callable[[Urls], Sequence[str]]
    """The arguments besides the port; the addresses of all programs are known."""
    settings_for: Callable[[Urls], Environments] = lambda _: {}
    """Settings by function."""

    def command(self, urls: Urls) -> list[str]:
        """Return the command that starts it."""
        port = str(urlsplit(urls[self.name]).port)
        return [sys.executable, "-m", self.module, "--port", port, *self.arguments(urls)]


def _account(function: str, email: str, *, project: str = HUB_PROJECT) -> StandIn:
    """Return the metadata server of a function, which runs as `email` in `project`."""
    name = f"metadata-{function}"

    def settings_for(urls: Urls) -> Environments:
        host = urlsplit(urls[name]).netloc
        account = {"GCE_METADATA_HOST": host, "GCE_METADATA_IP": host, "SERVICE_NAME": function}
        return {function: {**account, "IAM_CREDENTIALS": "adc"}}

    return StandIn(
        name=name,
        module="local.cloud.metadata",
        arguments=lambda _: ["--email", email, "--project", project],
        settings_for=settings_for,
    )


def _front(function: str, *, to: Sequence[str], invoker: str) -> StandIn:
    """Return Cloud Run in front of a function that `invoker` may invoke; the functions in `to` get its address."""
    name = f"{function}-front"

    def arguments(urls: Urls) -> list[str]:
        place = ["--service", function, "--url", urls[name], "--upstream", urls[function]]
        certs = [word for issuer in issuers(urls) for word in ("--certs", issuer + metadata.CERTS)]
        return [*place, *certs, "--invoker", invoker]

    def settings_for(urls: Urls) -> Environments:
        address = {f"{function.upper()}_URL": urls[name]}
        own = {} if function == "hub" else {function: {"PUBLIC_URL": urls[name]}}
        return dict.fromkeys(to, address) | own

    return StandIn(name=name, module="local.cloud.cloud_run", arguments=arguments, settings_for=settings_for)


_ACCOUNTS = (
    _account("gate", GATE_ACCOUNT),
    _account("hub", HUB_ACCOUNT),
    _account("docqa", DOCQA_ACCOUNT),
    _account("general", GENERAL_ACCOUNT),
    _account("expense", EXPENSE_ACCOUNT, project=EXPENSE_PROJECT),
    _account("pm", PM_ACCOUNT, project=PARTNER_PROJECT),
    _account("devtool", DEVTOOL_ACCOUNT, project=DEVTOOL_PROJECT),
)


def issuers(urls: Urls) -> list[str]:
    """Return the issuers of every account's tokens."""
    return [urls[one.name] for one in _ACCOUNTS]


def _storage() -> StandIn:
    """Return Cloud Storage with the sample corpus, which docqa and the search may read."""

    def arguments(urls: Urls) -> list[str]:
        readers = ("--reader", DOCQA_ACCOUNT, "--search-agent", discovery_engine.AGENT)
        corpus = ROOT / "functions" / "docqa" / "corpus"
        tokens = _tokens([*issuers(urls), urls["discovery-engine"]])
        return ["--bucket", f"{BUCKET}={corpus}", *readers, "--owner", OPERATOR, *tokens]

    return StandIn(
        name="storage",
        module="local.cloud.cloud_storage",
        arguments=arguments,
        settings_for=lambda urls: {"docqa": {"STORAGE_EMULATOR_HOST": urls["storage"]}},
    )


def _discovery_engine() -> StandIn:
    """Return Discovery Engine with a data store of everything in the bucket, which docqa may search."""

    def arguments(urls: Urls) -> list[str]:
        store = ("--storage", urls["storage"], "--store", f"{DATA_STORE}=gs://{BUCKET}/*")
        return [*store, "--viewer", DOCQA_ACCOUNT, "--admin", OPERATOR, *_tokens(issuers(urls))]

    def settings_for(urls: Urls) -> Environments:
        settings = {
            "DISCOVERY_ENGINE_PROJECT": HUB_PROJECT,
            "DISCOVERY_ENGINE_DATA_STORE": DATA_STORE,
            "DISCOVERY_ENGINE_ENDPOINT": urls["discovery-engine"],
        }
        others = ("DISCOVERY_ENGINE_ENGINE", "DISCOVERY_ENGINE_LOCATION", "DISCOVERY_ENGINE_SERVING_CONFIG")
        return {"docqa": dict.fromkeys((*others, "CORPUS_DIR"), "") | settings}

    return StandIn(
        name="discovery-engine",
        module="local.cloud.discovery_engine",
        arguments=arguments,
        settings_for=settings_for,
    )


def _vertex_ai() -> StandIn:
    """Return Vertex AI with one model in the hub's project. general uses it, the others where a setting names it."""

    def arguments(urls: Urls) -> list[str]:
        accounts = (GENERAL_ACCOUNT, DOCQA_ACCOUNT, EXPENSE_ACCOUNT, PM_ACCOUNT, DEVTOOL_ACCOUNT)
        users = [word for account in accounts for word in ("--user", account)]
        return ["--project", HUB_PROJECT, "--model", MODEL, *users, *_tokens(issuers(urls))]

    def settings_for(urls: Urls) -> Environments:
        place = {
            "GOOGLE_CLOUD_PROJECT": HUB_PROJECT,
            "GOOGLE_CLOUD_LOCATION": "global",
            "VERTEX_AI_ENDPOINT": urls["vertex-ai"],
        }
        others = dict.fromkeys(("docqa", "expense", "pm", "devtool"), place)
        return {"general": place | {"GENERAL_MODEL": MODEL}, **others}

    return StandIn(name="vertex-ai", module="local.cloud.vertex_ai", arguments=arguments, settings_for=settings_for)


def _tokens(addresses: Sequence[str]) -> list[str]:
    """Return the issuers of access tokens, and the operator's token, which is public."""
    issuing = [word for each in addresses for word in ("--issuer", each)]
    return [*issuing, "--token", f"{OPERATOR_TOKEN}={OPERATOR}"]


STAND_INS: tuple[StandIn, ...] = (
    *_ACCOUNTS,
    _front("hub", to=("gate",), invoker=GATE_ACCOUNT),
    _front("docqa", to=("hub",), invoker=HUB_ACCOUNT),
    _front("general", to=("hub",), invoker=HUB_ACCOUNT),
    _front("expense", to=("hub",), invoker=EVERYBODY),
    _front("pm", to=("hub",), invoker=HUB_ACCOUNT),
    _front("devtool", to=("hub",), invoker=HUB_ACCOUNT),
    _storage(),
    _discovery_engine(),
    _vertex_ai(),
    # An agent owner's token endpoint with one client, for routes of your own with boundary `oauth_client_credentials`.
    StandIn(
        name="authorization-server",
        module="local.cloud.authorization_server",
        arguments=lambda _: ["--client", "hub=local-secret", "--scope", "ask"],
    ),
)


def own_settings(
    stand_ins: Sequence[StandIn], urls: Urls, function: str, *, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the settings that point a function at the stand-ins; none where there are none.

    A developer's own Google account stays out of it, and an agent of their own, of which `inherited` has the address, keeps
    its place.
    """
    if not stand_ins:
        return {}
    settings = dict.fromkeys(_NOT_THE_DEVELOPERS, "") | {"CLOUDSDK_CONFIG": os.devnull}
    for one in stand_ins:
        settings |= one.settings_for(urls).get(function, {})
    agents = {f"{name.upper()}_URL" for name in urls}
    return {name: value for name, value in settings.items() if name not in agents or name not in inherited}
