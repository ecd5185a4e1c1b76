"""Reads and checks deploy.toml: all that is wrong at once, each with its line."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from a2a_hub.toml.checked_table import CheckedTable, Problem
from a2a_hub.toml.lines import TomlLines
from deploy import config_checks, formats, instance_limits
from deploy.config import (
    Config,
    ConfigError,
    FunctionConfig,
    Gateway,
    Identity,
    Place,
    Resources,
    Secrets,
)
from deploy.formats import Format
from deploy.functions import BY_NAME, FUNCTIONS, Function

# What stands at the top of the file beside a Place, and the tables below it.
_SETTINGS = ("name_prefix", "runtime", "log_text")
_TABLES = ("gemini_enterprise", "identity", "secrets", "gateway", "defaults", "functions")


def load(
    text: str,
    *,
    name: str,
    route_variables: Sequence[str],
    direct: bool,
    mode: str,
    passes_tokens: bool = False,
    roles: Sequence[str] = (),
) -> Config:
    """The settings in `text`. Raises ConfigError, which starts each line with `name` and the line number.

    `route_variables` are those of the route table: each has to be known. `passes_tokens`: one of its routes gets the caller's own
    token; `roles` are those of its routes for workers. `direct`, `mode`: what is about to be deployed.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name} is no TOML: {error}") from None
    reader = _Reader(values, TomlLines(text))
    config = reader.config()
    config_checks.check(
        config,
        reader.problem,
        route_variables=route_variables,
        passes_tokens=passes_tokens,
        roles=roles,
        direct=direct,
        mode=mode,
    )
    if reader.problems:
        lines = sorted(set(reader.problems))
        raise ConfigError("\n".join(f"{name}:{problem.line}: {problem.message}" for problem in lines))
    return config


class _Reader:
    def __init__(self, values: Mapping[str, Any], lines: TomlLines) -> None:
        self.problems: list[Problem] = []
        self._values = values
        self._lines = lines

    def config(self) -> Config:
        top = self._table(())
        top.refuse_unknown({*Place.__dataclass_fields__, *_SETTINGS, *_TABLES})
        place = self._place(top, inherited=None)
        prefix = self._matching(top, "name_prefix", formats.PREFIX, "a2a-")
        unknown = self._table(("functions",))
        unknown.refuse_unknown(BY_NAME)
        gemini_enterprise = self._table(("gemini_enterprise",))
        gemini_enterprise.refuse_unknown({"project_number"})
        return Config(
            place=place,
            name_prefix=prefix,
            runtime=self._matching(top, "runtime", formats.RUNTIME, "python313"),
            log_text=top.flag("log_text"),
            gemini_enterprise_project_number=self._optional(
                gemini_enterprise, "project_number", formats.NUMBER
            ),
            identity=self._identity(),
            secrets=self._secrets(prefix),
            gateway=self._gateway(place),
            functions={function.name: self._function(function, place) for function in FUNCTIONS},
        )

    def problem(self, path: tuple[str, ...], key: str | None, message: str) -> None:
        """Notes what is wrong with `key` of the table at `path`; None: with the table."""
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
        """The place that a table says; what it leaves out is inherited, but for the number of another project and for another
        one of the three ways to say as whom.
        """
        identities = ("account", "configuration", "impersonate_service_account")
        if len(named := [key for key in identities if key in table.values]) > 1:
            table.problem(named[1], f"{' and '.join(named)}: give only one of them")
        same_project = None if "project" in table.values else inherited
        same_person = None if named else inherited

        def person(key: str, format_: Format) -> str | None:
            return self._optional(table, key, format_) or (getattr(same_person, key) if same_person else None)

        return Place(
            project=same_project.project
            if same_project
            else self._matching(table, "project", formats.PROJECT, None),
            project_number=self._optional(table, "project_number", formats.NUMBER)
            or (same_project.project_number if same_project else None),
            region=self._matching(table, "region", formats.REGION, inherited.region if inherited else None),
            account=person("account", formats.EMAIL),
            configuration=person("configuration", formats.WORD),
            impersonate_service_account=person("impersonate_service_account", formats.EMAIL),
        )

    def _identity(self) -> Identity:
        table = self._table(("identity",))
        table.refuse_unknown({"oauth_client_ids", "domains", "id_token_audiences", "id_token_callers"})
        return Identity(
            oauth_client_ids=self._all_matching(table, "oauth_client_ids", formats.CLIENT_ID),
            domains=self._all_matching(table, "domains", formats.DOMAIN),
            id_token_audiences=table.texts("id_token_audiences"),
            id_token_callers=self._all_matching(table, "id_token_callers", formats.EMAIL),
        )

    def _secrets(self, prefix: str) -> Secrets:
        table = self._table(("secrets",))
        table.refuse_unknown(Secrets.__dataclass_fields__)
        return Secrets(
            signing_key=self._matching(table, "signing_key", formats.SECRET, f"{prefix}gate-signing-key"),
            clients=self._optional(table, "clients", formats.SECRET),
            gateway_token=self._optional(table, "gateway_token", formats.SECRET),
            webhook_key=self._optional(table, "webhook_key", formats.SECRET),
        )

    def _gateway(self, place: Place) -> Gateway:
        table = self._table(("gateway",))
        table.refuse_unknown({"region", "streaming", "public_url"})
        return Gateway(
            region=self._matching(table, "region", formats.REGION, place.region),
            streaming=table.flag("streaming") if "streaming" in table.values else True,
            public_url=self._address(table, "public_url"),
        )

    def _function(self, function: Function, home: Place) -> FunctionConfig:
        table = self._table(("functions", function.name))
        resources = set(Resources.__dataclass_fields__)
        known = resources | {"environment"}
        if function.is_agent:
            known |= set(Place.__dataclass_fields__) | {"url"}
        if function.mounts_documents:
            known.add("corpus_bucket")
        if function.mounts_workspace:
            known.add("workspace_bucket")
        if function.takes_workers:
            known.add("workers")
        table.refuse_unknown(known)
        return FunctionConfig(
            function=function,
            place=self._place(table, inherited=home) if function.is_agent else home,
            resources=self._resources(table, function),
            url=self._address(table, "url"),
            environment=self._environment(function.name),
            corpus_bucket=self._optional(table, "corpus_bucket", formats.BUCKET),
            workspace_bucket=self._optional(table, "workspace_bucket", formats.BUCKET),
            has_table=function.name in self._table(("functions",)).values,
            workers=self._workers(function.name),
        )

    def _resources(self, table: CheckedTable, function: Function) -> Resources:
        defaults = self._table(("defaults",))
        defaults.refuse_unknown(set(Resources.__dataclass_fields__))

        def holder(key: str) -> CheckedTable:
            return defaults if key in defaults.values and key not in table.values else table

        concurrency = holder("concurrency").whole("concurrency", function.concurrency, least=1)
        resources = Resources(
            memory=self._matching(holder("memory"), "memory", formats.MEMORY, "512Mi"),
            cpu=self._matching(holder("cpu"), "cpu", formats.CPU, "1"),
            concurrency=concurrency,
            # Room beside the streams, so that a unary request does not wait for one to end.
            threads=holder("threads").whole("threads", concurrency + 8, least=1),
            timeout_seconds=holder("timeout_seconds").whole("timeout_seconds", 3600, least=1),
            min_instances=max(holder("min_instances").whole("min_instances", 0), int(function.works_alone)),
            max_instances=holder("max_instances").whole("max_instances", 10, least=1),
        )
        # What is badly written was told, and says nothing of limits.
        if formats.MEMORY.pattern.fullmatch(resources.memory) and formats.CPU.pattern.fullmatch(
            resources.cpu
        ):
            for key, message in instance_limits.problems(resources):
                holder(key).problem(key, message)
        return resources

    def _environment(self, name: str) -> Mapping[str, str]:
        table = self._table(("functions", name, "environment"))
        for key in table.values:
            if not formats.VARIABLE_NAME.fullmatch(key):
                table.problem(key, f"{key!r} is no name of a variable: capital letters, digits, _")
            elif key in formats.SET_BY_DEPLOYMENT:
                table.problem(key, f"{key} is set by the deployment: {formats.SET_BY_DEPLOYMENT[key]}")
        return {key: table.text(key) for key in table.values}

    def _workers(self, name: str) -> Mapping[str, tuple[str, ...]]:
        table = self._table(("functions", name, "workers"))
        return {role: self._all_matching(table, role, formats.SERVICE_ACCOUNT) for role in table.values}

    def _address(self, table: CheckedTable, key: str) -> str | None:
        address = self._optional(table, key, formats.ADDRESS)
        return address.rstrip("/") if address else None

    def _optional(self, table: CheckedTable, key: str, format_: Format) -> str | None:
        return self._matching(table, key, format_, None) if key in table.values else None

    def _all_matching(self, table: CheckedTable, key: str, format_: Format) -> tuple[str, ...]:
        items = table.texts(key)
        for index, item in enumerate(items):
            if item and not format_.pattern.fullmatch(item):
                table.problem(key, f"{key} holds {item!r}: each must be {format_.words}", index=index)
        return items

    def _matching(self, table: CheckedTable, key: str, format_: Format, default: str | None) -> str:
        value = table.text(key, default)
        if isinstance(table.values.get(key), str) and value.strip() and not format_.pattern.fullmatch(value):
            table.problem(key, f"{key} is {value!r}: it must be {format_.words}")
        return value
