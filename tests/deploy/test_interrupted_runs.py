"""A first deployment that is refused at one step after another ends where an undisturbed one does."""

import base64
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from tests.deploy.deployments import deployment
from tests.deploy.test_deployment_variants import ALONE, HUB, has_accounts
from tests.fakes.google_cloud.cloud import Refused

CONFIG = f'{ALONE}\n[functions.hub.environment]\nTASK_STORE = "firestore"\nWAKEUPS = "pubsub"\n'
PREPARE, SERVE = "--only=prepare", "--only=bundle,agent_card,hub,gateway"
ALL = f"{PREPARE},bundle,agent_card,hub,gateway"
# By the stages of the run that is refused there; the other stages would only be looked through once more.
STEPS = {
    r"iam POST .*/serviceAccounts$": PREPARE,
    r"secretmanager POST .*-private-key:addVersion": PREPARE,
    r"firestore POST .*/databases$": PREPARE,
    r"pubsub PUT .*/topics/a2a-webhooks$": PREPARE,
    r"cloudtasks POST .*/queues$": PREPARE,
    r"cloudscheduler POST .*/jobs$": PREPARE,
    r"apigateway POST .*/configs$": SERVE,
    r"apigateway POST .*/gateways$": SERVE,
    r"run POST .*builds:submit$": SERVE,
}


def test_each_run_goes_on_where_the_one_before_was_refused(tmp_path: Path) -> None:
    with deployment(tmp_path, config=CONFIG) as one:
        has_accounts(one)
        one.google.cloud.accounts.clear()
        one.google.cloud.passing = {step: [Refused(400, "INVALID_ARGUMENT", "not now")] for step in STEPS}
        outcomes = [one.deploy(stages) for stages in STEPS.values()]
        for step, outcome in zip(STEPS, outcomes, strict=True):
            assert (outcome.status, "not now" in outcome.err) == (1, True), f"{step}: {outcome.out}{outcome.err}"
        last = one.deploy(ALL)
        assert last.status == 0, last.out + last.err
        assert one.deploy(ALL).changes == []
        # A pair whose private half was refused is made anew.
        for signer in ("gate", "hub", "tasks"):
            names = (f"projects/{HUB}/secrets/a2a-{signer}-{half}" for half in ("private-key", "public-keys"))
            private, public = (base64.b64decode(one.google.secrets.values[name][-1]) for name in names)
            assert load_pem_private_key(private, password=None).public_key() == load_pem_public_key(public)
        assert one.google.queues.queues
        assert one.google.scheduler.jobs
