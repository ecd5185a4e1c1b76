"""The latency that the hub adds to an A2A agent over HTTP, and that an ID token adds."""

from bench.contest import HEAD, OLDER_HUB, beside_older, contest, paired, rows
from bench.report import Target, at_most, table
from bench.servers import SUBJECTS, Settings, function, python_path, serving
from local.cloud.metadata import metadata
from local.cloud.program import Server as StandIn
from local.functions import ROOT
from local.ports import LOOPBACK, free_ports

_MAIN = "functions/hub/main.py"
DIRECT = "agent called directly"
HUB = "agent through the hub"
_MOST_ADDED_MS = 1.0
PUBLIC = "hub → public agent"
IAM = "hub → IAM agent, warm token"
_MOST_ADDED_BY_TOKEN_MS = 0.3
_EMAIL, _PROJECT = "hub@my-hub-project.iam.gserviceaccount.com", "my-hub-project"


def run(settings: Settings) -> list[Target]:
    """Print the table; return the target for the added latency."""
    ports = free_ports(3)
    direct = function(DIRECT, SUBJECTS / "constant_agent.py", target="agent", port=ports[0])
    urls = {f"{name}_URL": f"http://{LOOPBACK}:{ports[0]}" for name in ("DOCQA", "EXPENSE", "GENERAL", "PM")}
    servers = [direct, function(HUB, ROOT / _MAIN, target="hub", port=ports[1], **urls)]
    if settings.against:
        older = settings.against / _MAIN
        path = python_path(settings.against)
        servers.append(function(OLDER_HUB, older, target="hub", port=ports[2], **urls, PYTHONPATH=path))
    with serving(servers, settings) as contestants:
        measured = contest(contestants, settings, connections=1)
    table("An agent over HTTP, 1 connection", HEAD, rows(measured, DIRECT))
    added = paired(measured[HUB], measured[DIRECT], lambda mine, other: mine.p50_ms - other.p50_ms)
    wanted = f"hub adds ≤ {_MOST_ADDED_MS:.1f} ms to the agent's p50, 1 connection"
    return [at_most(wanted, added, _MOST_ADDED_MS, shown="{:.2f} ms"), *beside_older(measured, hub=HUB)]


def run_boundary(settings: Settings) -> list[Target]:
    """Print the table; return the target for the added latency."""
    ports = free_ports(3)
    hub = ROOT / _MAIN
    public_routes = settings.folder / "public-routes.toml"
    routes = (ROOT / "routes.toml").read_text(encoding="utf-8")
    public_routes.write_text(routes.replace('boundary = "iam"', 'boundary = "public"'), encoding="utf-8")
    urls = {f"{name}_URL": f"http://{LOOPBACK}:{ports[0]}" for name in ("DOCQA", "EXPENSE", "GENERAL", "PM")}
    with StandIn(metadata(email=_EMAIL, project=_PROJECT)) as account:
        host = account.url.removeprefix("http://")
        adc = {"IAM_CREDENTIALS": "adc", "GCE_METADATA_HOST": host, "GCE_METADATA_IP": host}
        agent = function("agent", SUBJECTS / "constant_agent.py", target="agent", port=ports[0])
        public = function(PUBLIC, hub, target="hub", port=ports[1], ROUTES_FILE=str(public_routes), **urls)
        iam = function(IAM, hub, target="hub", port=ports[2], **urls, **adc)
        with serving((agent, public, iam), settings) as contestants:
            measured = contest(contestants[1:], settings, connections=1)
    public_routes.unlink()
    table("The credential of a boundary, 1 connection", HEAD, rows(measured, PUBLIC))
    added = paired(measured[IAM], measured[PUBLIC], lambda mine, other: mine.p50_ms - other.p50_ms)
    wanted = f"an ID token adds ≤ {_MOST_ADDED_BY_TOKEN_MS:.1f} ms to the p50 of a public agent through the hub, 1 connection"
    return [at_most(wanted, added, _MOST_ADDED_BY_TOKEN_MS, shown="{:.2f} ms")]
