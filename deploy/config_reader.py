"""Reads deploy.toml: the formats of its values, and everything that is wrong with it in one report."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from a2a_hub.toml.checked_table import CheckedTable, Problem
from a2a_hub.toml.document import parse
from a2a_hub.toml.lines import TomlLines
from deploy import config_checks
from deploy.config import (
    Config,
    ConfigError,
    FunctionConfig,
    Gateway,
    Identity,
    Monitoring,
    Place,
    Resources,
    Routes,
    Secrets,
    namespace_of,
)
from deploy.functions import BY_NAME, FUNCTIONS, Function, Invoker

VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
# What stands at the top of the file beside a Place, and the tables below it.
_SETTINGS = ("name_prefix", "runtime", "log_text", "audit_log", "delete_protection")
_TABLES = (
    "labels",
    "gemini_enterprise",
    "identity",
    "secrets",
    "gateway",
    "telemetry",
    "monitoring",
    "defaults",
    "functions",
)


class Format(NamedTuple):
    """A pattern for a whole value, and its description."""

    pattern: str
    words: str


PROJECT = Format(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", "a project id, such as my-project-123")
NUMBER = Format(r"[0-9]{6,20}", "a project number: digits, in quotes")
REGION = Format(r"[a-z]+-[a-z]+[0-9]+", "a region, such as asia-northeast1")
EMAIL = Format(r"[^@\s'\"]+@[^@\s'\"]+\.[a-z]+", "an e-mail address")
SERVICE_ACCOUNT = Format(r"[a-z0-9-]+@[a-z0-9.:-]+\.gserviceaccount\.com", "the address of a service account")
WORD = Format(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", "letters, digits, hyphens")
# Service accounts have 6 to 30 characters, and the longest name that follows is agent-card.
PREFIX = Format(r"[a-z][a-z0-9-]{2,18}-", "4 to 20 lower-case letters, digits, hyphens, with a hyphen at its end")
RUNTIME = Format(r"python3[0-9]{2}", "a Python runtime, such as python313")
SECRET = Format(r"[A-Za-z][A-Za-z0-9_-]{0,254}", "a secret's name: letters, digits, hyphens")
BUCKET = Format(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]", "a bucket's name, without gs://")
CLIENT_ID = Format(
    r"[0-9]+(-[a-z0-9]+)?\.apps\.googleusercontent\.com",
    "an OAuth client id, such as 123456789012-abc123.apps.googleusercontent.com",
)
DOMAIN = Format(r"([a-z0-9-]+\.)+[a-z]+", "a domain, such as example.com")
MEMORY = Format(r"[1-9][0-9]*(Mi|Gi)", "an amount of memory, such as 512Mi")
CPU = Format(
    r"[12468]|0\.(0[89]|[1-9][0-9]?)",
    'a number of CPUs in quotes: "1", "2", "4", "6", "8", or less than one, such as "0.5"',
)
ADDRESS = Format(
    r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/[^\s?#]*)?", "an address that starts with https://"
)
SHARE = Format(r"[01]|0\.[0-9]{1,6}", 'a number from 0 to 1 in quotes, such as "0.01"')
CHANNEL = Format(
    r"projects/[^/]+/notificationChannels/[0-9]+",
    "a channel of Cloud Monitoring: projects/PROJECT/notificationChannels/NUMBER",
)
KMS_KEY = Format(
    r"projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+",
    "a key of Cloud KMS: projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY",
)
WORKER_POOL = Format(
    r"projects/[^/]+/locations/[^/]+/workerPools/[^/]+",
    "a private pool of Cloud Build: projects/PROJECT/locations/REGION/workerPools/POOL",
)
INGRESS = Format("all|internal|internal-and-cloud-load-balancing", "all, internal or internal-and-cloud-load-balancing")
EGRESS = Format("all-traffic|private-ranges-only", "all-traffic or private-ranges-only")
LABEL = Format("[a-z0-9_-]{0,63}", "a label: at most 63 lower-case letters, digits, hyphens, underscores")

_NO_ROUTES = Routes()


@cache
def set_by_deployment() -> Mapping[str, str]:
    """Return the variables that no function's table may name, with what they follow from."""
    return tomllib.loads(Path(__file__).with_name("set_by_deployment.toml").read_text(encoding="utf-8"))


def load(
    text: str,
    *,
    name: str,
    direct: bool,
    mode: str,
    routes: Routes = _NO_ROUTES,
) -> Config:
    """Return the settings in `text`. Raises ConfigError, which starts each line with `name` and the line number.

    `direct` and `mode` are those of the deployment.
    """
    try:
        values = parse(text)
    except ValueError as error:
        raise ConfigError(f"{name} is no TOML: {error}") from None
    reader = Reader(values, TomlLines(text))
    config = reader.config()
    for path, key, message in config_checks.check(config, routes, direct=direct, mode=mode):
        reader.problem(path, key, message)
    if reader.problems:
        lines = sorted(set(reader.problems))
        raise ConfigError("\n".join(f"{name}:{problem.line}: {problem.message}" for problem in lines))
    return config


class Reader:
    """A reader of the file's tables; `problems` are its mistakes."""

    def __init__(self, values: Mapping[str, Any], lines: TomlLines) -> None:
        self.problems: list[Problem] = []
        self._values = values
        self._lines = lines

    def config(self) -> Config:
        """Return the settings, whatever is wrong."""
        top = self._table(())
        top.refuse_unknown({*Place.__dataclass_fields__, *_SETTINGS, *_TABLES})
        place = self._place(top, inherited=None)
        prefix = self._matching(top, "name_prefix", PREFIX, "a2a-")
        self._table(("functions",)).refuse_unknown(BY_NAME)
        gemini_enterprise = self._table(("gemini_enterprise",))
        gemini_enterprise.refuse_unknown({"project_number"})
        return Config(
            place=place,
            name_prefix=prefix,
            runtime=self._matching(top, "runtime", RUNTIME, "python313"),
            log_text=top.flag("log_text"),
            delete_protection=_flag(top, "delete_protection"),
            labels=self._labels(),
            gemini_enterprise_project_number=self._optional(gemini_enterprise, "project_number", NUMBER),
            identity=self._identity(),
            secrets=self._secrets(),
            gateway=self._gateway(place),
            monitoring=self._monitoring(),
            functions={function.name: self._function(function, place) for function in FUNCTIONS},
        )

    def problem(self, path: tuple[str, ...], key: str | None, message: str) -> None:
        """Note an error in `key` of the table at `path`; None stands for the table."""
        self._table(path).problem(key, message)

    def _table(self, path: tuple[str, ...]) -> CheckedTable:
        values: Any = self._values
        for depth, key in enumerate(path):
            values = values.get(key, {})
            if not isinstance(values, dict):
                line = self._lines.line_of(path[: depth + 1])
                self.problems.append(Problem(line, f"{key} must be a table: [{'.'.join(path[: depth + 1])}]"))
                values = {}
        return CheckedTable(path=path, values=values, lines=self._lines, variables={}, problems=self.problems)

    def _place(self, table: CheckedTable, *, inherited: Place | None) -> Place:
        """Return the place of a table. Missing keys are inherited, except for the number of another project and for another
        one of the three ways to name an account.
        """
        identities = ("account", "configuration", "impersonate_service_account")
        if len(named := [key for key in identities if key in table.values]) > 1:
            table.problem(named[1], f"{' and '.join(named)}: give only one of them")
        same_project = None if "project" in table.values else inherited
        same_person = None if named else inherited

        def own(key: str, format_: Format, above: Place | None) -> str | None:
            return self._optional(table, key, format_) or (getattr(above, key) if above else None)

        return Place(
            project=same_project.project if same_project else self._matching(table, "project", PROJECT, None),
            project_number=own("project_number", NUMBER, same_project),
            region=self._matching(table, "region", REGION, inherited.region if inherited else None),
            kms_key=own("kms_key", KMS_KEY, same_project),
            worker_pool=own("worker_pool", WORKER_POOL, same_project),
            account=own("account", EMAIL, same_person),
            configuration=own("configuration", WORD, same_person),
            impersonate_service_account=own("impersonate_service_account", EMAIL, same_person),
        )

    def _identity(self) -> Identity:
        table = self._table(("identity",))
        table.refuse_unknown(Identity.__dataclass_fields__)
        return Identity(
            oauth_client_ids=self._all_matching(table, "oauth_client_ids", CLIENT_ID),
            domains=self._all_matching(table, "domains", DOMAIN),
            id_token_audiences=table.texts("id_token_audiences"),
            id_token_callers=self._all_matching(table, "id_token_callers", EMAIL),
        )

    def _secrets(self) -> Secrets:
        table = self._table(("secrets",))
        table.refuse_unknown(Secrets.__dataclass_fields__)
        return Secrets(
            clients=self._optional(table, "clients", SECRET),
            gateway_token=self._optional(table, "gateway_token", SECRET),
            webhook_key=self._optional(table, "webhook_key", SECRET),
            locations=self._all_matching(table, "locations", REGION),
        )

    def _labels(self) -> Mapping[str, str]:
        table = self._table(("labels",))
        for key in table.values:
            if key in ("content", "deployment", "before", "keys") or not re.fullmatch("[a-z][a-z0-9_-]{0,62}", key):
                table.problem(key, f"{key!r} is no key of a label, or is set by the deployment")
        return {key: self._matching(table, key, LABEL, None) for key in table.values}

    def _gateway(self, place: Place) -> Gateway:
        table = self._table(("gateway",))
        table.refuse_unknown(Gateway.__dataclass_fields__)
        return Gateway(
            region=self._matching(table, "region", REGION, place.region),
            streaming=_flag(table, "streaming"),
            plain_paths=table.flag("plain_paths"),
            public_url=self._address(table, "public_url"),
        )

    def _monitoring(self) -> Monitoring | None:
        table = self._table(("monitoring",))
        table.refuse_unknown(Monitoring.__dataclass_fields__)
        enabled, channels = _flag(table, "enabled"), self._all_matching(table, "notification_channels", CHANNEL)
        if "monitoring" not in self._table(()).values:
            return None
        endpoint = self._table(("telemetry",)).text("endpoint", "")
        if enabled and urlsplit(endpoint).hostname != "telemetry.googleapis.com":
            table.problem(
                None,
                'the alert policies need the metrics: set endpoint = "https://telemetry.googleapis.com" in [telemetry]',
            )
        return Monitoring(enabled=enabled, notification_channels=channels)

    def _function(self, function: Function, home: Place) -> FunctionConfig:
        table = self._table(("functions", function.name))
        known = {*Resources.__dataclass_fields__, "environment", "secrets"}
        if function.is_agent:
            known |= {*Place.__dataclass_fields__, "url"}
        if Invoker.EVERYBODY in function.invokers:
            known |= {"private", "invoker_iam_check"} if function.is_agent else {"invoker_iam_check"}
        if function.mounts_documents:
            known.add("corpus_bucket")
        if function.works_on_files:
            known.add("workspace_bucket")
        if function.takes_workers:
            known.add("workers")
        table.refuse_unknown(known)
        place = self._place(table, inherited=home) if function.is_agent else home
        return FunctionConfig(
            function=function,
            place=place,
            resources=self._resources(table),
            url=self._address(table, "url"),
            observability=self._observability(function, place),
            environment=self._environment(function.name),
            secrets=self._function_secrets(function.name),
            private=table.flag("private"),
            invoker_iam_check=_flag(table, "invoker_iam_check"),
            corpus_bucket=self._optional(table, "corpus_bucket", BUCKET),
            workspace_bucket=self._optional(table, "workspace_bucket", BUCKET),
            has_table=function.name in self._table(("functions",)).values,
            workers=self._workers(function.name),
        )

    def _resources(self, table: CheckedTable) -> Resources:
        defaults = self._table(("defaults",))
        defaults.refuse_unknown(Resources.__dataclass_fields__)

        def holder(key: str) -> CheckedTable:
            return defaults if key in defaults.values and key not in table.values else table

        concurrency = holder("concurrency").whole("concurrency", 80, least=1)
        return Resources(
            memory=self._matching(holder("memory"), "memory", MEMORY, "512Mi"),
            cpu=self._matching(holder("cpu"), "cpu", CPU, "1"),
            concurrency=concurrency,
            # Room beside the streams, so that a unary request does not wait for one to end.
            threads=holder("threads").whole("threads", concurrency + 8, least=1),
            timeout_seconds=holder("timeout_seconds").whole("timeout_seconds", 3600, least=1),
            min_instances=holder("min_instances").whole("min_instances", 0),
            max_instances=holder("max_instances").whole("max_instances", 10, least=1),
            ingress=self._matching(holder("ingress"), "ingress", INGRESS, "all"),
            network=self._optional(holder("network"), "network", WORD),
            subnet=self._optional(holder("subnet"), "subnet", WORD),
            vpc_egress=self._matching(holder("vpc_egress"), "vpc_egress", EGRESS, "private-ranges-only"),
        )

    def _observability(self, function: Function, place: Place) -> Mapping[str, str]:
        variables = {"AUDIT_LOG": "stdout"} if function.writes_audit_log and self._table(()).flag("audit_log") else {}
        table = self._table(("telemetry",))
        table.refuse_unknown({"endpoint", "sampling"})
        sampling, endpoint = self._matching(table, "sampling", SHARE, "1"), self._address(table, "endpoint")
        if table.values and not endpoint:
            table.problem(None, "[telemetry] needs endpoint: without it, nothing is sent")
        if endpoint and function.sends_telemetry:
            variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
            variables["OTEL_TRACES_SAMPLER_ARG"] = sampling
            # Google takes no metrics without a location.
            variables["OTEL_RESOURCE_ATTRIBUTES"] = ",".join(
                (
                    f"service.namespace={namespace_of(self._table(()).text('name_prefix', 'a2a-'))}",
                    f"cloud.region={place.region}",
                    "cloud.platform=gcp_cloud_run",
                )
            )
        return variables

    def _environment(self, name: str) -> Mapping[str, str]:
        table = self._variables(("functions", name, "environment"))
        values = {key: table.text(key) for key in table.values}
        # Instances have no CPU between requests: what goes on without a caller runs inside requests of Google's queues.
        queued = name == "hub" and values.get("TASK_STORE", "").startswith("firestore")
        return {"WAKEUPS": "pubsub", "TASK_RUNS": "queued", **values} if queued else values

    def _function_secrets(self, name: str) -> Mapping[str, str]:
        table = self._variables(("functions", name, "secrets"))
        for key in table.values.keys() & self._table(("functions", name, "environment")).values.keys():
            table.problem(key, f"{key} is in [functions.{name}.environment] too: delete one of the two")
        return {key: self._matching(table, key, SECRET, None) for key in table.values}

    def _variables(self, path: tuple[str, ...]) -> CheckedTable:
        table = self._table(path)
        for key in table.values:
            if not VARIABLE_NAME.fullmatch(key):
                table.problem(key, f"{key!r} is no name of a variable: capital letters, digits, _")
            elif source := set_by_deployment().get(key):
                table.problem(key, f"{key} is set by the deployment: {source}")
        return table

    def _workers(self, name: str) -> Mapping[str, tuple[str, ...]]:
        table = self._table(("functions", name, "workers"))
        return {role: self._all_matching(table, role, SERVICE_ACCOUNT) for role in table.values}

    def _address(self, table: CheckedTable, key: str) -> str | None:
        address = self._optional(table, key, ADDRESS)
        return address.rstrip("/") if address else None

    def _optional(self, table: CheckedTable, key: str, format_: Format) -> str | None:
        return self._matching(table, key, format_, None) if key in table.values else None

    def _all_matching(self, table: CheckedTable, key: str, format_: Format) -> tuple[str, ...]:
        items = table.texts(key)
        for index, item in enumerate(items):
            if item and not re.fullmatch(format_.pattern, item):
                table.problem(key, f"{key} holds {item!r}: each must be {format_.words}", index=index)
        return items

    def _matching(self, table: CheckedTable, key: str, format_: Format, default: str | None) -> str:
        value = table.text(key, default)
        if isinstance(table.values.get(key), str) and value.strip() and not re.fullmatch(format_.pattern, value):
            table.problem(key, f"{key} is {value!r}: it must be {format_.words}")
        return value


def _flag(table: CheckedTable, key: str) -> bool:
    """Return a flag that is true unless it is set."""
    return table.flag(key) or key not in table.values
