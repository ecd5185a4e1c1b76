"""The faults of the local cloud, each with the finding of the doctor that it has to become."""

from dataclasses import dataclass, field
from typing import Any

from local.cloud.wiring import GATE_ACCOUNT, HUB_ACCOUNT


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of a stand-in, and the finding that it has to become."""

    stand_in: str
    name: str
    subject: str
    check: str
    command: str
    """How the command begins."""
    outcome: str = "error"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.stand_in} {self.name}"


MENDED = (
    Fault(
        stand_in="docqa-front",
        name="revoke-invoker",
        subject="docqa",
        check="iam",
        command=f"gcloud run services add-iam-policy-binding docqa --member=serviceAccount:{HUB_ACCOUNT} ",
    ),
    Fault(
        stand_in="pm-front",
        name="wrong-audience",
        subject="pm",
        check="iam",
        command="gcloud run services update pm --add-custom-audiences=http://127.0.0.1:",
    ),
    Fault(
        stand_in="expense-front",
        name="revoke-invoker",
        subject="expense",
        check="iam",
        command="gcloud run services add-iam-policy-binding expense --member=allUsers ",
    ),
    Fault(
        stand_in="pm-front",
        name="quota",
        subject="pm",
        check="quota",
        command="gcloud run services update pm --max-instances=",
    ),
    Fault(
        stand_in="pm-front",
        name="latency",
        parameters={"seconds": 2.5},
        subject="pm",
        check="latency",
        outcome="warning",
        command="gcloud run services update pm --min-instances=1",
    ),
    Fault(
        stand_in="hub-front",
        name="revoke-invoker",
        subject="gate",
        check="hub",
        command=f"gcloud run services add-iam-policy-binding hub --member=serviceAccount:{GATE_ACCOUNT} ",
    ),
    Fault(
        stand_in="hub-front",
        name="wrong-audience",
        subject="gate",
        check="hub",
        command="gcloud run services update hub --add-custom-audiences=",
    ),
    Fault(
        stand_in="hub-front",
        name="latency",
        parameters={"seconds": 2.5},
        subject="gate",
        check="latency",
        outcome="warning",
        command="gcloud run services update hub --min-instances=1",
    ),
    Fault(
        stand_in="discovery-engine",
        name="deny-search",
        subject="docqa",
        check="search",
        command="gcloud projects add-iam-policy-binding my-hub-project --member=serviceAccount:docqa@",
    ),
    Fault(
        stand_in="discovery-engine",
        name="service-disabled",
        subject="docqa",
        check="search",
        command="gcloud services enable discoveryengine.googleapis.com --project=my-hub-project",
    ),
    Fault(
        stand_in="discovery-engine",
        name="quota",
        subject="docqa",
        check="search",
        command="gcloud beta quotas preferences create --service=discoveryengine.googleapis.com ",
    ),
    Fault(
        stand_in="storage",
        name="deny-objects-get",
        subject="docqa",
        check="source",
        command="gcloud storage buckets add-iam-policy-binding gs://sample-documents "
        "--member=serviceAccount:docqa@my-hub-project.iam.gserviceaccount.com --role=roles/storage.objectViewer",
    ),
    Fault(
        stand_in="vertex-ai",
        name="deny-predict",
        subject="general",
        check="model",
        command="gcloud projects add-iam-policy-binding my-hub-project --member=serviceAccount:general@",
    ),
    Fault(
        stand_in="vertex-ai",
        name="disable-api",
        subject="general",
        check="model",
        command="gcloud services enable aiplatform.googleapis.com --project=my-hub-project",
    ),
)
# Google's own disruptions and limits: they are told, and there is nothing to run.
TOLD = (
    Fault(stand_in="storage", name="quota", subject="docqa", check="source", command=""),
    Fault(stand_in="vertex-ai", name="quota", subject="general", check="model", command=""),
    Fault(stand_in="discovery-engine", name="server-error", subject="docqa", check="search", command=""),
    Fault(
        stand_in="vertex-ai",
        name="latency",
        parameters={"seconds": 2.5},
        subject="general",
        check="model",
        outcome="warning",
        command="",
    ),
)
# No row of a table here, each for a reason.
UNTOLD = {
    "expire-token": "seen only by who has no token yet: a test of its own",
    "metadata-down": "seen only by who has no token yet: a test of its own",
    "invalid-client": "no sample route gets its token there: tests/integration/test_secret_boundaries.py",
    "expired-early": "no sample route gets its token there: tests/integration/test_secret_boundaries.py",
    "tokeninfo": "seen only by callers with a Google token: tests/integration/test_google_token.py",
    "userinfo": "seen only by callers with a Google token: tests/integration/test_google_token.py",
    "without-chunks": "nothing is wrong: the search goes on with extracts",
    "standard-edition": "nothing is wrong: the search goes on without extracts",
    "block-question": "about one question, and not about the model's being there",
    "finish": "about one answer",
    "empty": "about one answer",
    "stall": "about one answer",
    "cut": "about one answer",
    "deny-sanitize": "no sample route has safety: tests/integration/test_safety.py",
    "partial": "no sample route has safety: tests/integration/test_safety.py",
    "failure": "no sample route has safety: tests/integration/test_safety.py",
    "garbled": "no sample route has safety: tests/integration/test_safety.py",
}
