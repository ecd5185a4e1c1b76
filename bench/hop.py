"""The latency that the hub adds to an A2A agent over HTTP, that an ID token adds, and that the gate adds with a warm cache."""

from bench.load import TOKEN
from bench.report import Measurements, Target, adds_at_most, beside_older, contest
from bench.servers import SUBJECTS, Server, Settings, function, older_hub, serving, stores
from local.cloud.accounts import Accounts
from local.cloud.google_tokens import TOKENINFO, USERINFO, GoogleTokens
from local.cloud.metadata import Metadata
from local.cloud.program import Server as StandIn
from local.functions import ROOT
from local.settings import key_pair

_MAIN = "functions/hub/main.py"
DIRECT = "agent called directly"
HUB = "agent through the hub"
_MAX_ADDED_MS = 0.7
PUBLIC = "hub → public agent"
IAM = "hub → IAM agent, warm token"
_MAX_ADDED_BY_TOKEN_MS = 0.3
_EMAIL, _PROJECT = "hub@my-hub-project.iam.gserviceaccount.com", "my-hub-project"
FUNCTION = "function called directly"
GATE = "function through the gate"
_MAX_ADDED_BY_GATE_MS = 0.7
_REQUESTS = 1000
_AUDIENCE = "bench.apps.googleusercontent.com"
_USER = {"sub": "1", "email": "bench@example.com", "email_verified": True, "aud": _AUDIENCE, "azp": _AUDIENCE}


def run(settings: Settings) -> list[Target]:
    """Print the table; return the target for the added latency."""
    direct = _agent(DIRECT)
    urls = _agents_at(direct)
    # Those with a store are measured beside the others, without a target.
    storing = [
        function(f"{HUB}, with {store}", ROOT / _MAIN, target="hub", **urls, **environment)
        for store, environment in stores(settings.folder).items()
    ]
    hub = function(HUB, ROOT / _MAIN, target="hub", **urls)
    with serving([direct, hub, *older_hub(settings, _MAIN, **urls), *storing], settings) as contestants:
        measured = contest("An agent over HTTP", contestants, settings, reference=DIRECT)
    added = adds_at_most("hub adds {} to the agent's p50", _MAX_ADDED_MS, measured, mine=HUB, reference=DIRECT)
    return [added, *beside_older(measured, hub=HUB)]


def run_boundary(settings: Settings) -> list[Target]:
    """Print the table; return the target for the added latency."""
    public_routes = settings.folder / "public-routes.toml"
    routes = (ROOT / "routes.toml").read_text(encoding="utf-8")
    public_routes.write_text(routes.replace('boundary = "iam"', 'boundary = "public"'), encoding="utf-8")
    agent = _agent("agent")
    urls = _agents_at(agent)
    with StandIn(Metadata(email=_EMAIL, project=_PROJECT, accounts=Accounts()).handle) as account:
        host = account.url.removeprefix("http://")
        adc = {"IAM_CREDENTIALS": "adc", "GCE_METADATA_HOST": host, "GCE_METADATA_IP": host}
        public = function(PUBLIC, ROOT / _MAIN, target="hub", ROUTES_FILE=str(public_routes), **urls)
        iam = function(IAM, ROOT / _MAIN, target="hub", **urls, **adc)
        with serving((agent, public, iam), settings) as contestants:
            measured = contest("The credential of a boundary", contestants[1:], settings, reference=PUBLIC)
    public_routes.unlink()
    what = "an ID token adds {} to the p50 of a public agent through the hub"
    return [adds_at_most(what, _MAX_ADDED_BY_TOKEN_MS, measured, mine=IAM, reference=PUBLIC)]


def run_gate(settings: Settings) -> list[Target]:
    """Print the table; return the targets for the added latency and for the introspections."""
    tokens = GoogleTokens()
    tokens.issue(TOKEN, _USER)
    direct = _agent(FUNCTION)
    with StandIn(tokens.handle) as google:
        environment = {
            "HUB_URL": direct.url,
            "AGENT_CARD_URL": direct.url,
            "SIGNING_KEY": key_pair().private,
            "HUB_DEV_TOKEN": "",
            "GOOGLE_TOKEN_AUDIENCES": _AUDIENCE,
            "GOOGLE_TOKENINFO_URL": f"{google.url}{TOKENINFO}",
            "GOOGLE_USERINFO_URL": f"{google.url}{USERINFO}",
            "IDENTITY_TTL_SECONDS": "300",
            "RATE_LIMIT_PER_MINUTE": "0",
        }
        gate = function(GATE, ROOT / "functions" / "gate" / "main.py", target="gate", **environment)
        with serving((direct, gate), settings) as contestants:
            measured = contest("The gate, the token's facts known", contestants, settings, reference=FUNCTION)
    what = "the gate adds {} to a function's p50"
    latency = adds_at_most(what, _MAX_ADDED_BY_GATE_MS, measured, mine=GATE, reference=FUNCTION)
    return [latency, _introspections(measured, tokens.counts["tokeninfo"])]


def _agent(name: str) -> Server:
    return function(name, SUBJECTS / "constant_agent.py", target="agent")


def _agents_at(server: Server) -> dict[str, str]:
    return {f"{name}_URL": server.url for name in ("DOCQA", "EXPENSE", "GENERAL", "PM")}


def _introspections(measured: Measurements, introspections: int) -> Target:
    """Return the target for the introspections: the run is shorter than the TTL of the gate."""
    requests = sum(one.load.requests for one in measured[GATE])
    return Target(
        wanted=f"≥ {_REQUESTS} requests of one token cost one introspection in a TTL",
        measured=f"{introspections} of {requests}",
        met=introspections == 1 and requests >= _REQUESTS,
    )
