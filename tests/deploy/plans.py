"""Deployments as `deploy.toml` may describe them, and what is planned for each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from deploy import config_reader
from deploy.config import Routes
from deploy.functions import functions
from deploy.plan import Plan
from tests.deploy.tools import ROOT

SHIPPED = (ROOT / "deploy.example.toml").read_text()
# Without the table that turns the store on.
EXAMPLE = re.sub(r"^\[functions\.hub\.environment\].*\n(?:.+\n)*", "", SHIPPED, flags=re.MULTILINE)
WITH_TASKS = EXAMPLE + '\n[functions.hub.environment]\nTASK_STORE = "firestore"\n'
WITH_WORKERS = (
    WITH_TASKS
    + """WAKEUPS = "pubsub"
[functions.tasks.workers]
developer = ["one@p-other.iam.gserviceaccount.com", "two@p-other.iam.gserviceaccount.com"]
tester = ["two@p-other.iam.gserviceaccount.com"]
"""
)
WATCHED = EXAMPLE + '[monitoring]\n[telemetry]\nendpoint = "https://telemetry.googleapis.com"\n'
DEVTOOL = '[functions.devtool]\nproject = "my-workspace-project"\n'
ROLES = ("developer", "tester")


def plan(text: str = EXAMPLE, *, direct: bool = False, mode: str = "run") -> Plan:
    config = config_reader.load(text, name="deploy.toml", routes=Routes(roles=ROLES), direct=direct, mode=mode)
    return Plan(config=config, direct=direct, mode=mode, roles=ROLES)


def environment(of: Plan, name: str) -> Mapping[str, str]:
    urls = {function: f"https://{function.replace('_', '-')}.example.com" for function in functions()}
    return of.environment(name, urls=urls, public_url="https://gateway.example.com", commit="abc")
