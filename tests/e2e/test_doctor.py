"""`hubctl doctor` over the local cloud: every fault is found, and the command that it prints, as it is, mends it."""

import io
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from hubctl.main import main
from local.cloud.wiring import HUB_ACCOUNT
from tests.e2e.cloud_faults import MENDED, TOLD, UNTOLD, Fault
from tests.e2e.hubs import Hub, running
from tests.e2e.local_clouds import LocalCloud
from tests.fakes.local_cloud import call

Finding = dict[str, Any]


def examined(cloud: LocalCloud, *options: str) -> tuple[int, list[Finding]]:
    out = io.StringIO()
    arguments = ["doctor", "--url", cloud.hub.url, "--token", cloud.hub.tokens[0], "--json", *options]
    status = main(arguments, environment={}, out=out)
    findings: list[Finding] = json.loads(out.getvalue())["findings"]
    return status, findings


def not_well(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [
        (each["subject"], each["check"], each["outcome"])
        for each in findings
        if each["outcome"] in ("error", "warning")
    ]


def carry_out(cloud: LocalCloud, command: str) -> None:
    """As an administrator would: pasted into a shell, with the local cloud's gcloud on the PATH."""
    path = f"{cloud.hub.logs / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": path}, check=True, capture_output=True)


def test_nothing_is_wrong_with_a_whole_cloud(cloud: LocalCloud) -> None:
    status, findings = examined(cloud)
    assert (status, not_well(findings)) == (0, [])
    tested = {(each["subject"], each["check"]) for each in findings if each["outcome"] == "ok"}
    assert {
        ("pm", "iam"),
        ("docqa", "search"),
        ("docqa", "source"),
        ("general", "model"),
        ("gate", "hub"),
    } <= tested


@pytest.mark.parametrize("fault", MENDED, ids=str)
def test_a_fault_is_found_and_the_command_that_is_printed_mends_it(cloud: LocalCloud, fault: Fault) -> None:
    cloud.break_it(fault.stand_in, fault.name, **fault.parameters)
    status, findings = examined(cloud)
    (found,) = (each for each in findings if each["outcome"] in ("error", "warning"))
    assert (found["subject"], found["check"], found["outcome"]) == (fault.subject, fault.check, fault.outcome)
    assert status == (1 if fault.outcome == "error" else 0)
    assert found["command"].startswith(fault.command)

    carry_out(cloud, found["command"])

    assert not_well(examined(cloud)[1]) == []


@pytest.mark.parametrize("fault", TOLD, ids=str)
def test_what_only_google_can_mend_is_told(cloud: LocalCloud, fault: Fault) -> None:
    cloud.break_it(fault.stand_in, fault.name, **fault.parameters)
    _, findings = examined(cloud)
    (found,) = (each for each in findings if each["outcome"] in ("error", "warning"))
    assert (found["subject"], found["check"], found["outcome"]) == (fault.subject, fault.check, fault.outcome)
    assert found["command"] is None
    assert found["fix"]


@pytest.fixture
def unused_cloud() -> Iterator[LocalCloud]:
    """A local cloud in which nobody has a token yet."""
    with running("local.run", CLOUD="local") as hub:
        yield LocalCloud(hub)


def credential_error(cloud: LocalCloud, what: str, command: str) -> bool:
    status, findings = examined(cloud)
    return status == 1 and any(
        (each["check"], each["outcome"], each["command"]) == ("credential", "error", command)
        and what in each["message"]
        for each in findings
    )


def until(found: Callable[[], bool]) -> bool:
    """The same instances go on here, and remember for some seconds that there was no token."""
    deadline = time.monotonic() + 30
    return any(found() for _ in iter(lambda: time.monotonic() < deadline, False))


def test_a_token_that_is_not_to_be_had_or_has_expired_is_found_and_new_instances_fix_it(
    unused_cloud: LocalCloud,
) -> None:
    faults = {"gate": ("metadata-down", "got no token"), "hub": ("expire-token", "expired")}
    for function, (fault, _) in faults.items():
        unused_cloud.break_it(f"metadata-{function}", fault)
    for function, (_, what) in faults.items():
        command = f"gcloud run services update {function} --update-env-vars=RESTARTED=$(date +%s)"
        # The hub is examined through the gate.
        assert until(partial(credential_error, unused_cloud, what, command))
        carry_out(unused_cloud, command)
    assert until(lambda: not_well(examined(unused_cloud)[1]) == [])


def test_a_run_without_a_cloud_is_well_too(hub: Hub) -> None:
    out = io.StringIO()
    arguments = ["doctor", "--url", hub.url, "--token", hub.tokens[0], "--json"]
    assert main(arguments, environment={}, out=out) == 0
    told = {f"{each['subject']} {each['check']}": each["message"] for each in json.loads(out.getvalue())["findings"]}
    assert told["pm credential"] == "none is sent: the agent is on this machine"
    assert told["docqa corpus"].endswith("documents in the folder")
    assert told["devtool workspaces"] == "1 folder"
    assert told["general model"] == "none is configured (ANSWER_MODEL), and none is needed"


def test_the_doctor_is_for_operators(cloud: LocalCloud) -> None:
    assert cloud.hub.unknown().get("/doctor").status == 401
    assert cloud.hub.stranger().get("/doctor").status == 401


def test_a_hub_that_is_not_there_is_said_to_be_not_there(cloud: LocalCloud) -> None:
    out = io.StringIO()
    status = main(["doctor", "--url", "http://127.0.0.1:9"], environment={}, out=out)
    assert status == 1
    assert "the connection was refused" in out.getvalue()
    assert "run: HUB_PORT=9 make run" in out.getvalue()


def test_on_a_terminal_each_command_stands_whole_on_a_line_of_its_own(cloud: LocalCloud) -> None:
    cloud.break_it("pm-front", "revoke-invoker")
    out = io.StringIO()
    main(
        ["doctor", "--url", cloud.hub.url],
        environment={"HUB_DEV_TOKEN": ",".join(cloud.hub.tokens)},
        out=out,
    )
    (line,) = (line for line in out.getvalue().splitlines() if "run: " in line)
    assert line.strip() == (
        f"run: gcloud run services add-iam-policy-binding pm --member=serviceAccount:{HUB_ACCOUNT} --role=roles/run.invoker"
    )
    assert "1 wrong" in out.getvalue()


def test_every_kind_of_fault_is_in_a_table_or_has_its_reason(cloud: LocalCloud) -> None:
    in_table = {(fault.stand_in, fault.name) for fault in (*MENDED, *TOLD)}
    known = {(stand_in, fault) for stand_in, url in cloud.urls.items() for fault in call(f"{url}/__faults")["known"]}
    assert in_table <= known
    assert {name for _, name in known} - {name for _, name in in_table} == UNTOLD.keys()
