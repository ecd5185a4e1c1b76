"""The commands that mend what stands between two services."""

import re

import pytest

from a2a_hub.diagnosis.gcloud import Service, is_command, more_quota, service_of


@pytest.mark.parametrize(
    ("url", "service"),
    [
        (
            "https://pm-123456789012.asia-northeast1.run.app/a2a",
            Service(name="pm", region="asia-northeast1", project="123456789012"),
        ),
        ("https://my-pm-agent-abcdefghij-an.a.run.app", Service(name="my-pm-agent")),
        (
            "https://us-central1-my-project.cloudfunctions.net/pm",
            Service(name="pm", region="us-central1", project="my-project"),
        ),
        (
            "https://us-central1-my-project.cloudfunctions.net",
            Service(name="route", region="us-central1", project="my-project"),
        ),
        ("https://pm.example.com", Service(name="route")),
        ("http://127.0.0.1:8080", Service(name="route")),
        ("https://pm-123456789012.asia-northeast1.run.app.evil.example", Service(name="route")),
    ],
)
def test_an_address_of_google_clouds_says_which_service_it_is(url: str, service: Service) -> None:
    assert service_of(url, name="route") == service


def test_a_command_names_the_place_where_it_is_known() -> None:
    known = Service(name="pm", region="asia-northeast1", project="123456789012")
    assert known.add_invoker("allUsers") == (
        "gcloud run services add-iam-policy-binding pm --region=asia-northeast1 --project=123456789012 "
        "--member=allUsers --role=roles/run.invoker"
    )
    assert Service(name="pm").keep_instance() == "gcloud run services update pm --min-instances=1"


def test_a_larger_quota_is_asked_for_the_kind_of_requests_that_ran_out() -> None:
    command = more_quota("discoveryengine.googleapis.com", "p", of="Search")
    (wanted,) = re.findall(r"quotaId~(\S+)'", command)
    # Some of an API's quotas, in the order of their names: the first is not the one.
    ids = ["CompleteQueryRequestsPerMinutePerProject", "ConversationalSearchReadRequestsPerMinutePerProject"]
    assert [each for each in (*ids, "SearchRequestsPerMinutePerProject") if re.search(wanted, each)] == [
        "SearchRequestsPerMinutePerProject"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcloud services enable storage.googleapis.com --project=p", True),
        ("hubctl corpus push FOLDER", True),
        (more_quota("discoveryengine.googleapis.com", "p", of="Search"), True),
        ("gcloud auth application-default login (on your own machine)", False),
        ("hubctl corpus status, then hubctl corpus push --prune: they do not agree", False),
        ("split the document", False),
    ],
)
def test_a_remedy_is_a_command_only_where_it_can_be_pasted(text: str, expected: bool) -> None:
    assert is_command(text) is expected
