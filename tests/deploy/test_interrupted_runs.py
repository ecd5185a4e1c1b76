"""A first deployment that is refused at one step after another ends where an undisturbed one does."""

import base64
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from tests.deploy.deployments import deployment
from tests.deploy.test_deployment_variants import ALONE, HUB, has_accounts
from tests.fakes.google_cloud.cloud import Refused

CONFIG = f'{ALONE}\n[functions.hub.environment]\nTASK_STORE = "firestore"\nWAKEUPS = "pubsub"\n'
STAGES = "--only=prepare,bundle,agent_card,hub,gateway"
STEPS = (
    r"iam POST .*/serviceAccounts$",
    r"secretmanager POST .*-private-key:addVersion",
    r"firestore POST .*/databases$",
    r"pubsub PUT .*/topics/a2a-webhooks$",
    r"cloudtasks POST .*/queues$",
    r"cloudscheduler POST .*/jobs$",
    r"apigateway POST .*/configs$",
    r"apigateway POST .*/gateways$",
    r"run POST .*builds:submit$",
)


def test_each_run_goes_on_where_the_one_before_was_refused(tmp_path: Path) -> None:
    with deployment(tmp_path, config=CONFIG) as one:
        has_accounts(one)
        one.google.cloud.accounts.clear()
        one.google.cloud.passing = {step: [Refused(400, "INVALID_ARGUMENT", "not now")] for step in STEPS}
        outcomes = [one.deploy(STAGES) for _ in STEPS]
        for step, outcome in zip(STEPS, outcomes, strict=True):
            assert (outcome.status, "not now" in outcome.err) == (1, True), f"{step}: {outcome.out}{outcome.err}"
        last = one.deploy(STAGES)
        assert last.status == 0, last.out + last.err
        assert one.deploy(STAGES).changes == []
        # A pair whose private half was refused is made anew.
        for signer in ("gate", "hub", "tasks"):
            names = (f"projects/{HUB}/secrets/a2a-{signer}-{half}" for half in ("private-key", "public-keys"))
            private, public = (base64.b64decode(one.google.secrets.values[name][-1]) for name in names)
            assert load_pem_private_key(private, password=None).public_key() == load_pem_public_key(public)
        assert one.google.queues.queues
        assert one.google.scheduler.jobs
