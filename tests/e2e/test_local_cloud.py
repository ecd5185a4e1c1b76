"""`make run CLOUD=local`: the whole hub over the local cloud."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from local.cloud.wiring import GATE_ACCOUNT, HUB_ACCOUNT, PERSON_TOKEN
from tests.e2e.callers import Caller
from tests.e2e.hubs import running
from tests.e2e.local_clouds import LocalCloud

ROOT = Path(__file__).resolve().parents[2]

PM = "List three tasks for creating a project WBS."
EXPENSE = "What is the expense reimbursement submission deadline?"


def query(cloud: LocalCloud, text: str) -> Any:
    return cloud.hub.caller().post("/tools/query", {"query": text}).json


def token_of(request: dict[str, Any]) -> dict[str, Any]:
    segment = request["headers"]["authorization"].split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)))
    return claims


def test_an_agent_of_another_account_gets_an_id_token_of_the_hub_for_its_own_address(
    cloud: LocalCloud,
) -> None:
    assert query(cloud, PM)["error"] is None
    claims = token_of(cloud.received("pm-front")[-1])
    assert (claims["aud"], claims["email"]) == (cloud.urls["pm-front"], HUB_ACCOUNT)


def test_a_persons_google_token_is_introspected_at_the_stand_in(cloud: LocalCloud) -> None:
    person = Caller(port=cloud.hub.port, token=PERSON_TOKEN)
    assert person.post("/tools/query", {"query": PM}).json["error"] is None
    assert cloud.received("google-tokens")[-1]["headers"]["authorization"] == f"Bearer {PERSON_TOKEN}"
    assert cloud.hub.unknown().post("/tools/query", {"query": PM}).status == 401


def test_the_hub_gets_the_gates_own_id_token(cloud: LocalCloud) -> None:
    query(cloud, PM)
    claims = token_of(cloud.received("hub-front")[-1])
    assert (claims["aud"], claims["email"]) == (cloud.urls["hub-front"], GATE_ACCOUNT)


def test_a_public_agent_of_another_project_gets_no_authorization(cloud: LocalCloud) -> None:
    assert query(cloud, EXPENSE)["error"] is None
    assert "authorization" not in cloud.received("expense-front")[-1]["headers"]


def test_an_agent_that_a_deployment_makes_private_is_the_hubs_alone_under_a_route_with_iam(tmp_path: Path) -> None:
    before, start, expense = (ROOT / "routes.toml").read_text().partition('id = "expense"')
    table = tmp_path / "routes.toml"
    table.write_text(before + start + expense.replace('boundary = "public"', 'boundary = "iam"', 1))
    with running("local.run", CLOUD="local", PRIVATE="expense", ROUTES_FILE=str(table)) as hub:
        cloud = LocalCloud(hub)
        assert query(cloud, EXPENSE)["error"] is None
        url = cloud.urls["expense-front"]
        claims = token_of(cloud.received("expense-front")[-1])
        assert (claims["aud"], claims["email"]) == (url, HUB_ACCOUNT)
        with pytest.raises(HTTPError, match="403"):
            urlopen(f"{url}/.well-known/agent-card.json", timeout=30)


def test_the_record_of_a_refusal_holds_the_command_that_mends_it(cloud: LocalCloud) -> None:
    cloud.break_it("pm-front", "revoke-invoker")
    assert query(cloud, PM)["error"]["remedy"].endswith(
        f": gcloud run services add-iam-policy-binding pm --member=serviceAccount:{HUB_ACCOUNT} --role=roles/run.invoker"
    )


@pytest.mark.parametrize(("fault", "status"), [("revoke-invoker", 403), ("wrong-audience", 401), ("quota", 429)])
def test_what_cloud_run_refuses_is_a_text_on_the_ui_path_and_a_status_on_the_other(
    cloud: LocalCloud, fault: str, status: int
) -> None:
    cloud.break_it("pm-front", fault)
    failed = query(cloud, PM)
    cloud.mend()
    mended = query(cloud, PM)
    assert (failed["error"]["httpStatus"], mended["error"]) == (status, None)
