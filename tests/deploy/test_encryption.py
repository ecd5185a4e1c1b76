"""A key of one's own: the accounts of the products may use it before anything is made that it encrypts."""

from pathlib import Path

from tests.deploy.deployments import deployment
from tests.deploy.test_deployment_variants import ALONE, HUB
from tests.fakes.google_cloud.cloud import Refused

_RING = "locations/asia-northeast1/keyRings/r/cryptoKeys/c"
_CONFIG = f"""kms_key = "projects/my-keys/{_RING}"
{ALONE}
[functions.hub.environment]
TASK_STORE = "firestore"
"""
_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_PRODUCTS = (
    "gcp-sa-artifactregistry",
    "gcp-sa-firestore",
    "gcp-sa-pubsub",
    "serverless-robot-prod",
    "gcp-sa-secretmanager",
)
# The secrets are the next step.
_ENDS_AFTER_THE_KEY = {"^secretmanager ": Refused(403, "PERMISSION_DENIED", "no")}


def test_the_products_may_use_the_key_and_a_second_run_asks_for_nothing(tmp_path: Path) -> None:
    with deployment(tmp_path, config=_CONFIG) as one:
        one.google.cloud.failures |= _ENDS_AFTER_THE_KEY
        first = one.deploy("--only=prepare")
        agents = {f"serviceAccount:service-111111111111@{name}.iam.gserviceaccount.com" for name in _PRODUCTS}
        assert set(one.google.cloud.members(_RING, _ROLE)) == agents, first.err
        repository = f"projects/{HUB}/locations/asia-northeast1/repositories/cloud-run-source-deploy"
        assert one.google.run.repositories == {repository}
        made = next(
            body for body in one.google.cloud.bodies if isinstance(body, dict) and body.get("format") == "DOCKER"
        )
        assert made["kmsKeyName"] == f"projects/my-keys/{_RING}"
        again = one.deploy("--only=prepare").changes
        assert again == []


def test_whoever_may_not_read_the_keys_policy_gets_the_commands_for_its_administrator(tmp_path: Path) -> None:
    with deployment(tmp_path, config=_CONFIG) as one:
        refused = {"cloudkms": Refused(403, "PERMISSION_DENIED", "no")}
        one.google.cloud.failures |= refused | _ENDS_AFTER_THE_KEY
        outcome = one.deploy("--only=prepare")
        assert "# WARNING: you may not read who uses this key." in outcome.out
        assert outcome.out.count("# gcloud kms keys add-iam-policy-binding projects/my-keys/") == len(_PRODUCTS)
        assert "this grant was refused" not in outcome.err
