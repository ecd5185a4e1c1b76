"""The audit log and the telemetry of a deployment: each function has what it uses, and the roles for it."""

import pytest

from deploy.config import ConfigError
from tests.deploy.plans import DEVTOOL, EXAMPLE, WITH_TASKS, environment, plan

OBSERVED = "audit_log = true\n" + WITH_TASKS + DEVTOOL + '[telemetry]\nendpoint = "ENDPOINT"\nsampling = "0.01"\n'
GOOGLE = "https://telemetry.googleapis.com"


def test_by_default_nothing_is_recorded() -> None:
    made = plan(WITH_TASKS)
    for function in made.deployed():
        name = function.function.name
        assert not {"AUDIT_LOG", "OTEL_EXPORTER_OTLP_ENDPOINT"} & environment(made, name).keys()
        assert "roles/telemetry.writer" not in made.roles_of(function)


def test_those_that_know_who_acts_write_the_audit_log() -> None:
    made = plan(OBSERVED.replace("ENDPOINT", GOOGLE))
    names = [each.function.name for each in made.deployed()]
    assert {name for name in names if environment(made, name).get("AUDIT_LOG") == "stdout"} == {
        *("hub", "gate", "tasks", "devtool")
    }


def test_all_send_telemetry_with_one_ratio_and_their_own_region() -> None:
    made = plan(OBSERVED.replace("ENDPOINT", GOOGLE))
    sending = {each.function.name for each in made.deployed() if "roles/telemetry.writer" in made.roles_of(each)}
    assert sending == {each.function.name for each in made.deployed()} - {"agent_card"}
    for name in sending:
        told = environment(made, name)
        assert (told["OTEL_EXPORTER_OTLP_ENDPOINT"], told["OTEL_TRACES_SAMPLER_ARG"]) == (GOOGLE, "0.01")
        place = "service.namespace=a2a,cloud.region=asia-northeast1,cloud.platform=gcp_cloud_run"
        assert told["OTEL_RESOURCE_ATTRIBUTES"] == place
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in environment(made, "agent_card")
    assert all("telemetry.googleapis.com" in services for services in made.services().values())


def test_a_collector_of_ones_own_needs_no_role() -> None:
    made = plan(OBSERVED.replace("ENDPOINT", "https://collector.example.com"))
    assert all("roles/telemetry.writer" not in made.roles_of(each) for each in made.deployed())
    assert environment(made, "hub")["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://collector.example.com"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[telemetry]\nsampling = "0.5"\n', "needs endpoint"),
        (f'[telemetry]\nendpoint = "{GOOGLE}"\nsampling = "2"\n', "from 0 to 1"),
        ("[monitoring]\n", "the alert policies need the metrics"),
        ('[monitoring]\nnotification_channels = ["ops"]\n', "notificationChannels/NUMBER"),
        ('[functions.general.environment]\nAUDIT_LOG = "stdout"\n', "audit_log, for all functions"),
    ],
)
def test_what_would_do_nothing_is_refused(table: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        plan(EXAMPLE + table)
