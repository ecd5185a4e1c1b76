"""The settings of a deployment, from a valid deploy.toml."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from deploy.functions import Function, Need, needs


class ConfigError(ValueError):
    """All errors in deploy.toml, one line each, with its line number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """The parts of the route table with which a deployment has to agree."""

    variables: Sequence[str] = ()
    roles: Sequence[str] = ()
    """The roles of its routes for workers."""
    boundaries: Mapping[str, str] = field(default_factory=dict)
    """The boundaries of the routes to functions, by their names."""
    passes_tokens: bool = False
    """True if one of its routes gets the caller's own token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The project, region and account of a function."""

    project: str
    project_number: str | None
    region: str
    kms_key: str | None
    """The key that encrypts what is made there; None: Google's own."""
    worker_pool: str | None
    """The private pool of Cloud Build in which functions are built; None: Google's own."""
    account: str | None
    configuration: str | None
    impersonate_service_account: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The resources of one instance of a function, and the number of instances."""

    memory: str = "512Mi"
    cpu: str = "1"
    concurrency: int
    threads: int
    timeout_seconds: int = 3600
    min_instances: int = 0
    max_instances: int = 10
    ingress: str = "all"
    network: str | None = None
    """A VPC network of the function's project, through which it calls; its subnet, and whether everything goes there."""
    subnet: str | None = None
    vpc_egress: str = "private-ranges-only"

    @property
    def memory_mib(self) -> int:
        """The memory in MiB, a lot for a malformed value, which is reported where it is read."""
        number, unit = self.memory[:-2], self.memory[-2:]
        return int(number) * {"Mi": 1, "Gi": 1024}.get(unit, 1024) if number.isdecimal() else 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionConfig:
    """The table of one function. With a `url`, it is deployed by others and only called."""

    function: Function
    place: Place
    resources: Resources
    url: str | None
    observability: Mapping[str, str]
    """The variables of its audit log and its telemetry."""
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    """Variables that are filled from Secret Manager, each with the secret's name."""
    private: bool
    """True if only the hub may invoke a function that is public by default."""
    invoker_iam_check: bool
    """False if Cloud Run does not check IAM, so that anybody may invoke it."""
    corpus_bucket: str | None
    workspace_bucket: str | None
    has_table: bool
    """True if deploy.toml has a table for it."""
    workers: Mapping[str, tuple[str, ...]]
    """The service accounts of the workers of each role."""

    @property
    def settings(self) -> tuple[str, ...]:
        """Its own variables, written NAME=value; of WAKEUPS=hcs,pubsub what is Google's."""
        variables = {**self.observability, **self.environment}
        return tuple(f"{name}={value.removeprefix('hcs,')}" for name, value in variables.items())

    @property
    def needs(self) -> tuple[Need, ...]:
        """The APIs that it calls with the settings that it has."""
        return tuple(
            need
            for need in (*self.function.needs, *needs("telemetry"))
            if not need.setting or any(setting.startswith(need.setting) for setting in self.settings)
        )

    @property
    def works_between_requests(self) -> bool:
        """True if it works on tasks after it has answered, and so needs its CPU at all times. Others work inside requests."""
        return self.function.works_on_files

    @property
    def mounts(self) -> bool:
        """True if a bucket is mounted as a folder. Where a data store searches the bucket, documents are read one by one."""
        return self.workspace_bucket is not None or (
            self.corpus_bucket is not None and set(needs("search")).isdisjoint(self.needs)
        )

    @property
    def bucket(self) -> tuple[str, str] | None:
        """The bucket of its files, and its role there."""
        if self.workspace_bucket:
            return self.workspace_bucket, "roles/storage.objectUser"
        return (self.corpus_bucket, "roles/storage.objectViewer") if self.corpus_bucket else None

    @property
    def is_wanted(self) -> bool:
        """True if deploy.toml asks for it, judged by its own table."""
        return self.has_table or not self.function.is_optional


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The callers: see the settings of the same names in docs/settings.md."""

    oauth_client_ids: tuple[str, ...]
    domains: tuple[str, ...]
    id_token_audiences: tuple[str, ...]
    id_token_callers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Names in Secret Manager, never values."""

    clients: str | None
    gateway_token: str | None
    webhook_key: str | None
    locations: tuple[str, ...]
    """The regions of the secrets that deploy.sh makes; empty: Google chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The API Gateway. `public_url` is set where a load balancer with a domain stands in front of it."""

    region: str
    streaming: bool = True
    plain_paths: bool = False
    """True if the config has no custom verbs after a variable."""
    public_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitoring:
    """The dashboard and the alert policies. If not `enabled`, those of an earlier deployment are deleted."""

    enabled: bool = True
    notification_channels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in a valid deploy.toml."""

    place: Place
    name_prefix: str
    runtime: str
    log_text: bool
    delete_protection: bool
    labels: Mapping[str, str]
    gemini_enterprise_project_number: str | None
    identity: Identity
    secrets: Secrets
    gateway: Gateway
    monitoring: Monitoring | None
    functions: Mapping[str, FunctionConfig]

    @property
    def namespace(self) -> str:
        """The namespace of this environment's telemetry."""
        return namespace_of(self.name_prefix)


def namespace_of(name_prefix: str) -> str:
    """Return the namespace of an environment's telemetry: its prefix without the hyphen."""
    return name_prefix.rstrip("-")
