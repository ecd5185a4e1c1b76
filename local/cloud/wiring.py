"""`make run CLOUD=local`: the stand-ins, and the settings that each gives to functions. No other place names all of them.

A stand-in more is a row more in STAND_INS: a name, its handler, and the settings that it gives to functions; both are made from
the addresses of all programs, functions and stand-ins, by name. `python -m local.cloud.wiring URLS` serves all of them, each at
its own address. All know the same accounts.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from a2a_hub.http.messages import Handler
from local.cloud import hedera
from local.cloud.accounts import Accounts
from local.cloud.authorization_server import AuthorizationServer
from local.cloud.buckets import Bucket
from local.cloud.cloud_run import CloudRun
from local.cloud.cloud_storage import CloudStorage
from local.cloud.data_store import AGENT
from local.cloud.discovery_engine import DiscoveryEngine
from local.cloud.google_tokens import TOKENINFO, USERINFO, GoogleTokens
from local.cloud.hedera import Hedera
from local.cloud.metadata import Metadata
from local.cloud.model_armor import ModelArmor
from local.cloud.policies import EVERYBODY, OBJECT_VIEWER, SEARCH_AGENT, Policy, member
from local.cloud.program import Server, recorded
from local.cloud.vertex_ai import VertexAi
from local.cloud.workspace import ACCOUNT as WORKSPACE_ACCOUNT
from local.cloud.workspace import OWNER, Workspace, write_key
from local.functions import ROOT
from local.processes import StopSignal

HUB_PROJECT = "my-hub-project"
# Each function has an account of its own in its project.
_PROJECTS = {
    "gate": HUB_PROJECT,
    "hub": HUB_PROJECT,
    "docqa": HUB_PROJECT,
    "general": HUB_PROJECT,
    "expense": "my-expense-project",
    "pm": "partner-project",
    "devtool": "my-workspace-project",
    "agent_card": HUB_PROJECT,
    "tasks": HUB_PROJECT,
}
_EMAILS = {name: f"{name}@{project}.iam.gserviceaccount.com" for name, project in _PROJECTS.items()}
GATE_ACCOUNT, HUB_ACCOUNT, DOCQA_ACCOUNT = (_EMAILS[name] for name in ("gate", "hub", "docqa"))
# The callers of each function behind Cloud Run's front.
_INVOKERS = dict.fromkeys(("docqa", "general", "pm", "devtool"), HUB_ACCOUNT) | {
    "hub": GATE_ACCOUNT,
    "expense": EVERYBODY,
}
_MODEL_USERS = ("general", "docqa", "expense", "pm", "devtool", "hub")
# The tokens are public.
OPERATOR, OPERATOR_TOKEN = "operator@example.com", "operator"
PERSON_TOKEN = "hanako"  # noqa: S105 - of a person of the local cloud
_CLIENT = "hub.apps.googleusercontent.com"
_LONG_SECONDS = 30 * 86_400
BUCKET = DATA_STORE = "sample-documents"
ROUTES = "gs://route-tables/routes.toml"
_READ_ROUTES = ("hub", "agent_card", "tasks")
MODEL = "gemini-2.5-flash"
TEMPLATE = f"projects/{HUB_PROJECT}/locations/asia-northeast1/templates/a2a"

CLOUD_FILE = "cloud.json"
"""Where a run writes down the addresses of its stand-ins, by name."""
_NOT_THE_DEVELOPERS = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_QUOTA_PROJECT")

Urls = Mapping[str, str]
Environments = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A service of the local cloud."""

    name: str
    """The name in reports, and that of its address among the addresses."""
    handler: Callable[[Urls, Accounts], Handler]
    """Makes what it serves; the addresses of all programs are known."""
    settings_for: Callable[[Urls], Environments] = lambda _: {}
    """Settings by function."""
    is_http: bool = True
    """False for a port that another row serves, in another protocol."""


def _account(function: str) -> StandIn:
    """Return the metadata server of a function."""
    name = f"metadata-{function}"

    def settings_for(urls: Urls) -> Environments:
        host = urlsplit(urls[name]).netloc
        account = {"GCE_METADATA_HOST": host, "GCE_METADATA_IP": host, "SERVICE_NAME": function}
        return {function: {**account, "IAM_CREDENTIALS": "adc"}}

    def handler(_: Urls, accounts: Accounts) -> Handler:
        return Metadata(email=_EMAILS[function], project=_PROJECTS[function], accounts=accounts).handle

    return StandIn(name=name, handler=handler, settings_for=settings_for)


def _front(function: str, invoker: str) -> StandIn:
    """Return Cloud Run in front of a function that `invoker` may invoke; its caller gets the address."""
    name = f"{function}-front"

    def handler(urls: Urls, accounts: Accounts) -> Handler:
        place = {"service": function, "url": urls[name], "upstream": urls[function]}
        # As `private = true` in deploy.toml.
        its_invoker = HUB_ACCOUNT if os.environ.get("PRIVATE") == function else invoker
        return CloudRun(**place, accounts=accounts, invoker=its_invoker).handle

    def settings_for(urls: Urls) -> Environments:
        address = {f"{function.upper()}_URL": urls[name]}
        return {"gate": address} if function == "hub" else {"hub": address, function: {"PUBLIC_URL": urls[name]}}

    return StandIn(name=name, handler=handler, settings_for=settings_for)


_SEARCH = {
    "DISCOVERY_ENGINE_PROJECT": HUB_PROJECT,
    "DISCOVERY_ENGINE_DATA_STORE": DATA_STORE,
    **{f"DISCOVERY_ENGINE_{name}": "" for name in ("ENGINE", "LOCATION", "SERVING_CONFIG")},
    "CORPUS_DIR": "",
}


def _model_settings(urls: Urls) -> Environments:
    place = {"GOOGLE_CLOUD_PROJECT": HUB_PROJECT, "GOOGLE_CLOUD_LOCATION": "global"}
    place["VERTEX_AI_ENDPOINT"] = urls["vertex-ai"]
    return dict.fromkeys(_MODEL_USERS, place) | {"general": place | {"ANSWER_MODEL": MODEL}}


@cache
def _buckets() -> tuple[Bucket, Bucket]:
    """Return a bucket of the sample corpus, which docqa may read, and one of the route table at ROUTES."""
    documents = Bucket(BUCKET)
    documents.load(ROOT / "functions" / "docqa" / "corpus")
    tables_name, _, object_name = ROUTES.removeprefix("gs://").partition("/")
    tables = Bucket(tables_name, versioning=True)
    tables.put(object_name, (ROOT / "routes.toml").read_bytes())
    for bucket, readers in ((documents, ("docqa",)), (tables, _READ_ROUTES)):
        members = [member(_EMAILS[function]) for function in readers]
        search = {"role": SEARCH_AGENT, "members": [member(AGENT)]}
        bucket.policy = Policy([{"role": OBJECT_VIEWER, "members": members}, search])
    return documents, tables


def _search(_: Urls, accounts: Accounts) -> Handler:
    """Return Discovery Engine with a data store of everything in the bucket, which docqa may search."""
    engine = DiscoveryEngine(
        [DATA_STORE],
        buckets=_buckets(),
        accounts=accounts,
        viewers=[DOCQA_ACCOUNT],
        contents={DATA_STORE: f"gs://{BUCKET}/*"},
    )
    # Not in the time of the first search.
    engine.load()
    return engine.handle


def _models(_: Urls, accounts: Accounts) -> Handler:
    """Return Vertex AI with one model in the hub's project. general and the Workspace worker use it, others by a setting."""
    users = [*(_EMAILS[name] for name in _MODEL_USERS), WORKSPACE_ACCOUNT]
    return VertexAi(project=HUB_PROJECT, model=MODEL, users=users, accounts=accounts).handle


def _google_tokens(*_: object) -> Handler:
    """Return Google's token endpoints, with a token of a person whom the gate lets in."""
    tokens = GoogleTokens()
    person = {"sub": "1", "name": "Hanako Yamada", "email": OWNER, "email_verified": True, "hd": "example.com"}
    tokens.issue(PERSON_TOKEN, person | {"aud": _CLIENT, "azp": _CLIENT, "expires_in": _LONG_SECONDS})
    return tokens.handle


def _google_token_settings(urls: Urls) -> Environments:
    url = urls["google-tokens"]
    endpoints = {"GOOGLE_TOKENINFO_URL": url + TOKENINFO, "GOOGLE_USERINFO_URL": url + USERINFO}
    return {"gate": {"GOOGLE_TOKEN_AUDIENCES": _CLIENT, **endpoints}}


def _workspace(_: Urls, accounts: Accounts) -> Handler:
    """Return the Workspace of a person, with a few files, mails and events."""
    workspace = Workspace(accounts)
    workspace.fill()
    return workspace.handle


def write_worker_settings(folder: Path, urls: Urls, *, tasks_url: str, token: str) -> Path:
    """Write the settings of the Workspace worker over its stand-in, as a file for a shell to read."""
    settings = {
        "TASKS_URL": tasks_url,
        "WORKER_TOKEN": token,
        "GOOGLE_APPLICATION_CREDENTIALS": write_key(folder / "workspace-key.json", url=urls["workspace"]),
        "GOOGLE_CLOUD_PROJECT": HUB_PROJECT,
        "VERTEX_AI_ENDPOINT": urls["vertex-ai"],
        "WORKSPACE_ENDPOINT": urls["workspace"],
        "WORKSPACE_MODEL": MODEL,
        "WORKSPACE_USER": OWNER,
    }
    file = folder / "workspace.env"
    file.write_text("".join(f"export {name}={shlex.quote(str(value))}\n" for name, value in settings.items()))
    return file


STAND_INS: tuple[StandIn, ...] = (
    *(_account(function) for function in _PROJECTS),
    *(_front(function, invoker) for function, invoker in _INVOKERS.items()),
    StandIn(
        name="storage",
        handler=lambda _, accounts: CloudStorage(_buckets(), accounts=accounts, spared=[_buckets()[1].name]).handle,
        settings_for=lambda urls: {
            name: {"STORAGE_EMULATOR_HOST": urls["storage"]} for name in ("docqa", *_READ_ROUTES)
        },
    ),
    StandIn(
        name="discovery-engine",
        handler=_search,
        settings_for=lambda urls: {"docqa": _SEARCH | {"DISCOVERY_ENGINE_ENDPOINT": urls["discovery-engine"]}},
    ),
    StandIn(name="google-tokens", handler=_google_tokens, settings_for=_google_token_settings),
    StandIn(name="workspace", handler=_workspace),
    StandIn(name="vertex-ai", handler=_models, settings_for=_model_settings),
    # A template that the hub may use: routes with `safety` are screened.
    StandIn(
        name="model-armor",
        handler=lambda _, accounts: ModelArmor(template=TEMPLATE, users=[HUB_ACCOUNT], accounts=accounts).handle,
        settings_for=lambda urls: {
            "hub": {"MODEL_ARMOR_TEMPLATE": TEMPLATE, "MODEL_ARMOR_ENDPOINT": urls["model-armor"]}
        },
    ),
    # An agent owner's token endpoint with one client, for routes of your own with boundary `oauth_client_credentials`.
    StandIn(
        name="authorization-server",
        handler=lambda *_: AuthorizationServer({"hub": "local-secret"}, scopes=frozenset({"ask"})).handle,
    ),
)


def _hedera(urls: Urls, _: Accounts) -> Handler:
    """Return the mirror node of a network with a topic for each role of workers/routes.toml, and start its consensus node."""
    network = Hedera()
    network.serve_node(urlsplit(urls["hedera-node"]).port or 0)
    return network.handle


def _hedera_settings(urls: Urls) -> Environments:
    settings = hedera.settings(node=urlsplit(urls["hedera-node"]).netloc, mirror_url=urls["hedera"])
    return dict.fromkeys(("hub", "tasks"), settings)


HEDERA: tuple[StandIn, ...] = (
    StandIn(name="hedera", handler=_hedera, settings_for=_hedera_settings),
    StandIn(name="hedera-node", handler=_hedera, is_http=False),
)
"""The rows that a run with WAKEUPS=hcs has as well."""


def own_settings(
    stand_ins: Sequence[StandIn], urls: Urls, function: str, *, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the settings that point a function at the stand-ins; none where there are none.

    A developer's own Google account stays out of it, and an agent of their own, of which `inherited` has the address, keeps
    its place, as does a folder of documents.
    """
    if not stand_ins:
        return {}
    settings = dict.fromkeys(_NOT_THE_DEVELOPERS, "") | {"CLOUDSDK_CONFIG": os.devnull}
    for one in stand_ins:
        settings |= one.settings_for(urls).get(function, {})
    if inherited.get("CORPUS_DIR"):
        settings = {name: value for name, value in settings.items() if name not in _SEARCH}
    agents = {f"{name.upper()}_URL" for name in urls}
    return {name: value for name, value in settings.items() if name not in agents or name not in inherited}


def command(urls: Urls) -> list[str]:
    """Return the command that starts all stand-ins at their addresses."""
    return [sys.executable, "-m", "local.cloud.wiring", json.dumps(urls)]


def main(urls: Urls) -> None:
    """Serve all stand-ins until stopped by a signal."""
    stopping = StopSignal.of_signals()
    accounts = Accounts({OPERATOR_TOKEN: OPERATOR}, operators=[OPERATOR])
    with ExitStack() as stack:
        for one in (*STAND_INS, *HEDERA):
            if not one.is_http or one.name not in urls:
                continue
            handle = recorded(one.handler(urls, accounts))
            # So many servers that often look whether they are to stop would take each other's time.
            stack.enter_context(Server(handle, port=urlsplit(urls[one.name]).port or 0, poll_seconds=60.0))
        stopping.wait()
        # Nothing is kept: without waiting for them, all servers end.
        os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
