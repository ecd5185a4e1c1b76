"""The command that asks for a larger quota: the real gcloud finds the one that ran out, among all of an API's."""

import os
import subprocess
from pathlib import Path

from a2a_hub.diagnosis.gcloud import more_quota
from tests.deploy.tools import program
from tests.fakes.http_server import Exchange, HttpServer

PARENT = "projects/my-project/locations/global"
SERVICE = "discoveryengine.googleapis.com"
IDS = (
    "CompleteQueryRequestsPerMinutePerProject",
    "ConversationalSearchReadRequestsPerMinutePerProject",
    "SearchRequestsPerMinutePerProject",
)


def test_more_is_asked_of_the_quota_for_searches(tmp_path: Path) -> None:
    program("gcloud")
    asked: list[dict[str, object]] = []

    def quotas(exchange: Exchange) -> None:
        if exchange.received.method == "POST":
            asked.append(exchange.received.json)
            exchange.json({"name": f"{PARENT}/quotaPreferences/1"})
        else:
            exchange.json({"quotaInfos": [{"quotaId": each, "service": SERVICE} for each in IDS]})

    with HttpServer(quotas) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
            "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDQUOTAS": f"{server.url}/",
        }
        done = subprocess.run(
            ["bash", "-c", more_quota(SERVICE, "my-project", of="Search")],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert [(each["quotaId"], each["quotaConfig"]) for each in asked] == [
        ("SearchRequestsPerMinutePerProject", {"preferredValue": "1000"})
    ]
