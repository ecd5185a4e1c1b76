"""The paper's question on documents, and its lesson 4, through the whole hub over the local cloud (§4.6, §5.3)."""

import json
import shlex
from typing import Any

import pytest

from local.cloud.wiring import BUCKET, DOCQA_ACCOUNT, OPERATOR_TOKEN
from tests.e2e.local_clouds import LocalCloud
from tests.e2e.request_forms import FORMS, Form
from tests.fakes.document_cloud import grant_reading

ENGLISH = "What is the deadline for notifying the infrastructure team for a P-1 incident?"
JAPANESE = "P-1インシデントの場合、インフラチームへの連絡期限はいつまでですか？"


def query(cloud: LocalCloud, text: str) -> Any:
    return cloud.hub.caller().post("/tools/query", {"query": text}).json


@pytest.mark.parametrize(
    ("question", "quote", "document"),
    [
        (ENGLISH, "within 15 minutes of incident detection", "incident-response-policy.md"),
        (JAPANESE, "検知から15分以内", "インシデント対応規程.md"),
    ],
)
def test_the_deadline_is_cited_from_cloud_storage(cloud: LocalCloud, question: str, quote: str, document: str) -> None:
    told = query(cloud, question)
    assert (told["route"], told["error"]) == ("docqa", None)
    (citation,) = told["citations"]
    assert quote in citation["quote"]
    assert citation["uri"] == f"gs://{BUCKET}/policies/{document}"
    assert [source["uri"] for source in told["data"]["sources"]] == [citation["uri"]]


@pytest.mark.parametrize(
    ("question", "said"),
    [(ENGLISH, "the evidence could not be read"), (JAPANESE, "根拠となる原文を読み取れませんでした")],
)
def test_a_source_that_may_not_be_read_is_a_text_for_the_user_and_a_command_for_the_operator(
    cloud: LocalCloud, question: str, said: str
) -> None:
    cloud.break_it("storage", "deny-objects-get")
    told = query(cloud, question)
    assert said in told["answer"]
    assert (told["data"]["grounded"], told["citations"]) == (False, [])
    assert told["data"]["unverified"]
    (hint,) = told["data"]["hints"]
    assert shlex.split(hint["remedy"]) == [
        *("gcloud", "storage", "buckets", "add-iam-policy-binding", f"gs://{BUCKET}"),
        f"--member=serviceAccount:{DOCQA_ACCOUNT}",
        "--role=roles/storage.objectViewer",
    ]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_is_for_the_operator_is_not_told_to_those_who_ask(cloud: LocalCloud, form: Form) -> None:
    cloud.break_it("storage", "deny-objects-get")
    told = form.ask(cloud.hub.caller(), ENGLISH, output_modes=["text/plain", "application/json"])
    assert "the evidence could not be read" in told.text
    assert "gcloud" not in told.text + json.dumps(told.data)
    assert all("unverified" in json.dumps(data) for data in told.data)


def test_when_the_permission_is_there_again_the_deadline_is_cited_again(cloud: LocalCloud) -> None:
    cloud.break_it("storage", "deny-objects-get")
    assert query(cloud, ENGLISH)["data"]["grounded"] is False
    grant_reading(cloud.urls["storage"], bucket=BUCKET, account=DOCQA_ACCOUNT, token=OPERATOR_TOKEN)
    assert cloud.faults("storage") == {}
    assert query(cloud, ENGLISH)["data"]["grounded"] is True


@pytest.mark.parametrize(
    ("stand_in", "fault", "said"),
    [
        ("discovery-engine", "deny-search", "the search is not permitted"),
        ("discovery-engine", "quota", "is not available at the moment"),
        ("storage", "server-error", "the evidence could not be read"),
    ],
)
def test_every_failure_of_the_cloud_is_a_text(cloud: LocalCloud, stand_in: str, fault: str, said: str) -> None:
    cloud.break_it(stand_in, fault)
    failed = query(cloud, ENGLISH)
    cloud.mend()
    assert (failed["error"], query(cloud, ENGLISH)["data"]["grounded"]) == (None, True)
    assert said in failed["answer"]
