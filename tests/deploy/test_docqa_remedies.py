"""The commands that document QA names for its failures: the real gcloud carries them out, and they mend the failure."""

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.failure import Cause, Failure, Step, remedy
from tests.deploy.tools import program
from tests.fakes.document_cloud import OWNERS_TOKEN, DocumentCloud, ask, document_cloud

DOORS = "When are the doors locked?"


@pytest.fixture
def cloud() -> Iterator[DocumentCloud]:
    with document_cloud() as cloud:
        cloud.hold(doors="# Doors\n\nThe doors are locked at 20:00.\n")
        yield cloud


def environment(cloud: DocumentCloud, folder: Path) -> Mapping[str, str]:
    """Return where gcloud has this cloud and no other, and is its operator."""
    token = folder / "token"
    token.write_text(OWNERS_TOKEN)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CLOUDSDK_CONFIG": str(folder / "gcloud"),
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": f"{cloud.storage_url}/storage/v1/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER": f"{cloud.search_url}/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_SERVICEUSAGE": f"{cloud.search_url}/",
    }


@pytest.mark.parametrize(
    ("service", "fault"),
    [("storage", "deny-objects-get"), ("search", "deny-search"), ("search", "service-disabled")],
)
def test_the_command_that_a_failure_names_mends_it(
    cloud: DocumentCloud, tmp_path: Path, service: str, fault: str
) -> None:
    engine = cloud.engine()
    assert ask(engine, DOORS).grounded
    (cloud.break_storage if service == "storage" else cloud.break_search)(fault)
    (hint,) = ask(engine, DOORS).hints

    gcloud, *arguments = shlex.split(hint.remedy)
    done = subprocess.run(
        [program(gcloud), *arguments], env=environment(cloud, tmp_path), capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr
    assert cloud.faults() == {}
    assert ask(engine, DOORS).grounded


def test_every_command_is_one_that_gcloud_knows(cloud: DocumentCloud, tmp_path: Path) -> None:
    config = CloudConfig(
        project="my-hub-project",
        serving_config="x",
        search_endpoint="x",
        grounding_endpoint="x",
        storage_endpoint=None,
        as_user=False,
        timeout_seconds=1,
    )
    failures = [Failure(step=step, cause=cause, resource="gs://bucket/a.md") for step in Step for cause in Cause]
    named = {remedy(each, config, account="docqa@p.iam.gserviceaccount.com") for each in failures}
    commands = {each.partition(" (")[0].partition(" . and ")[0] for each in named if each.startswith("gcloud")}
    assert len(commands) >= 7
    for command in commands:
        gcloud, *checked = ["gcloud", "meta", "lint-gcloud-commands", "--command-string"]
        done = subprocess.run(
            [program(gcloud), *checked, command],
            env=environment(cloud, tmp_path),
            capture_output=True,
            text=True,
        )
        assert '"success": true' in done.stdout.lower(), (command, done.stdout, done.stderr)
