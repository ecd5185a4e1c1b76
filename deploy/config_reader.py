"""Reads deploy.toml, checks the formats of its values, and reports all errors together."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
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
from deploy.functions import Function, Invoker, functions

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


if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)
_NO_ROUTES = Routes()
# Cloud Run's own number.
_CONCURRENCY = 80


@cache
def set_by_deployment() -> Mapping[str, str]:
    """Return the variables that no function's table may name, with what they follow from."""
    return tomllib.loads(Path(__file__).with_name("set_by_deployment.toml").read_text(encoding="utf-8"))


@cache
def formats() -> Mapping[str, Format]:
    """Return the format of each key; that of a table is one of all its values."""
    tables = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
    return {
        key: Format(of["pattern"], of["words"]) for name, of in tables.items() for key in (name, *of.get("keys", ()))
    }


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
        """Return the settings even if there are errors."""
        top = self._table(())
        top.refuse_unknown({*Place.__dataclass_fields__, *_SETTINGS, *_TABLES})
        place = self._place(top, inherited=None)
        prefix = self._matching(top, "name_prefix", "a2a-")
        self._table(("functions",)).refuse_unknown(functions())
        gemini_enterprise = self._table(("gemini_enterprise",))
        gemini_enterprise.refuse_unknown({"project_number"})
        return Config(
            place=place,
            name_prefix=prefix,
            runtime=self._matching(top, "runtime", "python313"),
            log_text=top.flag("log_text"),
            delete_protection=_flag(top, "delete_protection"),
            labels=self._labels(),
            gemini_enterprise_project_number=self._optional(gemini_enterprise, "project_number"),
            identity=self._own(Identity, "identity"),
            secrets=self._own(Secrets, "secrets"),
            gateway=self._own(Gateway, "gateway", region=place.region),
            monitoring=self._monitoring(),
            functions={function.name: self._function(function, place) for function in functions().values()},
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
        own: set[str] = {"project", "project_number", "kms_key", "worker_pool"} if "project" in table.values else set()
        own |= {*identities} if named else set()
        above = asdict(inherited) if inherited else {}
        return self._filled(Place, lambda _: table, **{key: value for key, value in above.items() if key not in own})

    def _own(self, kind: type[T], name: str, **defaults: object) -> T:
        """Return a table whose keys are the fields of a class."""
        table = self._table((name,))
        table.refuse_unknown({each.name for each in fields(kind)})
        return self._filled(kind, lambda _: table, **defaults)

    def _filled(self, kind: type[T], table_of: Callable[[str], CheckedTable], **defaults: object) -> T:
        """Return the class with the values of a key's table, each read as its field's type, or with the defaults."""
        found: dict[str, Any] = {}
        for field in fields(kind):
            key, table = field.name, table_of(field.name)
            default: Any = defaults.get(key, None if field.default is MISSING else field.default)
            if field.type is str:
                found[key] = self._matching(table, key, default)
            elif field.type is bool:
                found[key] = _flag(table, key) if default else table.flag(key)
            elif field.type is int:
                # What is 0 unless it is set may be set to 0.
                found[key] = table.whole(key, default, minimum=min(1, default))
            elif field.type == (str | None):
                found[key] = self._optional(table, key) or default
            else:
                found[key] = self._all_matching(table, key)
        return kind(**found)

    def _labels(self) -> Mapping[str, str]:
        table = self._table(("labels",))
        for key in table.values:
            if key in ("content", "deployment", "before", "keys") or not re.fullmatch("[a-z][a-z0-9_-]{0,62}", key):
                table.problem(key, f"{key!r} is no key of a label, or is set by the deployment")
        return {key: self._matching(table, key, None, like="labels") for key in table.values}

    def _monitoring(self) -> Monitoring | None:
        table, monitoring = self._table(("monitoring",)), self._own(Monitoring, "monitoring")
        if "monitoring" not in self._table(()).values:
            return None
        endpoint = self._table(("telemetry",)).text("endpoint", "")
        if monitoring.enabled and urlsplit(endpoint).hostname != "telemetry.googleapis.com":
            table.problem(
                None,
                'the alert policies need the metrics: set endpoint = "https://telemetry.googleapis.com" in [telemetry]',
            )
        return monitoring

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
            url=self._optional(table, "url"),
            observability=self._observability(function, place),
            environment=self._environment(function.name),
            secrets=self._function_secrets(function.name),
            private=table.flag("private"),
            invoker_iam_check=_flag(table, "invoker_iam_check"),
            corpus_bucket=self._optional(table, "corpus_bucket"),
            workspace_bucket=self._optional(table, "workspace_bucket"),
            has_table=function.name in self._table(("functions",)).values,
            workers=self._workers(function.name),
        )

    def _resources(self, table: CheckedTable) -> Resources:
        defaults = self._table(("defaults",))
        defaults.refuse_unknown(Resources.__dataclass_fields__)

        def holder(key: str) -> CheckedTable:
            return defaults if key in defaults.values and key not in table.values else table

        # Room beside the streams, so that a unary request does not wait for one to end.
        threads = holder("concurrency").whole("concurrency", _CONCURRENCY, minimum=1) + 8
        return self._filled(Resources, holder, concurrency=_CONCURRENCY, threads=threads)

    def _observability(self, function: Function, place: Place) -> Mapping[str, str]:
        variables = {"AUDIT_LOG": "stdout"} if function.writes_audit_log and self._table(()).flag("audit_log") else {}
        table = self._table(("telemetry",))
        table.refuse_unknown({"endpoint", "sampling"})
        sampling, endpoint = self._matching(table, "sampling", "1"), self._optional(table, "endpoint")
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
        return {key: self._matching(table, key, None, like="secrets") for key in table.values}

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
        return {role: self._all_matching(table, role, like="workers") for role in table.values}

    def _optional(self, table: CheckedTable, key: str) -> str | None:
        return self._matching(table, key, None).rstrip("/") if key in table.values else None

    def _all_matching(self, table: CheckedTable, key: str, *, like: str = "") -> tuple[str, ...]:
        items, format_ = table.texts(key), formats().get(like or key)
        for item in items:
            if format_ and item and not re.fullmatch(format_.pattern, item):
                table.problem(key, f"{key} holds {item!r}: each must be {format_.words}")
        return items

    def _matching(self, table: CheckedTable, key: str, default: str | None, *, like: str = "") -> str:
        value, format_ = table.text(key, default), formats()[like or key]
        if isinstance(table.values.get(key), str) and value.strip() and not re.fullmatch(format_.pattern, value):
            table.problem(key, f"{key} is {value!r}: it must be {format_.words}")
        return value


def _flag(table: CheckedTable, key: str) -> bool:
    """Return a flag that is true unless it is set."""
    return table.flag(key) or key not in table.values
