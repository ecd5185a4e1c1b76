"""The functions that are deployed, and who may invoke each: the one table that grants are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Invoker(StrEnum):
    """The holder of roles/run.invoker on a function: the service account of this name, unless it is one of the first three."""

    EVERYBODY = "everybody"
    GEMINI_ENTERPRISE = "gemini_enterprise"
    WORKERS = "workers"
    """Of deploy.toml: their accounts are their own."""
    GATEWAY = "gateway"
    GATE = "gate"
    HUB = "hub"
    TASKS = "tasks"
    WAKEUPS = "wakeups"
    """Pub/Sub, where it wakes functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An API that a function calls, and the role in its own project that lets it; empty: a role on less than that."""

    api: str
    role: str
    setting: str = ""
    """Only where one of the function's settings, written NAME=value, begins like this; empty: always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function; its name is its folder and its entry point."""

    name: str
    invokers: tuple[Invoker, ...]
    direct_invokers: tuple[Invoker, ...] = ()
    """Without a gateway, if they are others then."""
    only_with_gateway: bool = False
    """True if it is not deployed without a gateway."""
    is_agent: bool = False
    """True if it may be in a project, an account or a region of its own, or be somebody else's."""
    reads_routes: bool = False
    """True if it reads the route table, and so needs the public address and every agent's."""
    checks_callers: bool = False
    """True if it authenticates callers where it is what they reach first."""
    container: str = ""
    """The folder of a container that speaks HTTP/2; empty: a bundle of Functions Framework."""
    signs_for: tuple[str, ...] = ()
    """The functions that it tells who calls, in a header that it signs with a key of its own."""
    mounts_documents: bool = False
    """True if it answers from a bucket."""
    works_on_files: bool = False
    """True if it works on the files of a bucket and runs commands of its callers. It is deployed only where deploy.toml has a
    table for it, is kept away from the project of the hub, and keeps its tasks in a database of its own project.
    """
    serves_people: bool = False
    """True if people open it in a browser."""
    calls: tuple[str, ...] = ()
    """Functions whose addresses it gets, beside those of the route table."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The variables that it always has."""
    needs: tuple[Need, ...] = ()
    only_with: str = ""
    """Deployed only where one of the hub's settings, written NAME=value, begins like this; empty: always."""
    takes_workers: bool = False
    """True if workers outside get their work from it."""
    publishes_wakeups: bool = False
    """True if it tells of work on tasks: through the topics, and the queue of those with a time."""
    writes_audit_log: bool = False
    """True if it knows who asks, decides or changes something."""
    sends_telemetry: bool = True

    @property
    def is_optional(self) -> bool:
        """True if it is deployed only where deploy.toml has a table for it."""
        return self.works_on_files or self.serves_people or bool(self.container)

    @property
    def needs_public_url(self) -> bool:
        """True if it has the address that callers from outside reach."""
        return self.reads_routes or self.serves_people or bool(self.container)


SEARCH = Need(api="discoveryengine", role="roles/discoveryengine.viewer", setting="DISCOVERY_ENGINE_")
# Other models are behind the setting's _URL.
MODEL = Need(api="aiplatform", role="roles/aiplatform.user", setting="ANSWER_MODEL=gemini")
EMBEDDINGS = tuple(replace(MODEL, setting=f"EMBEDDING_MODEL={name}") for name in ("gemini-", "text-"))
ARMOR = Need(api="modelarmor", role="roles/modelarmor.user", setting="MODEL_ARMOR_TEMPLATE")
# Any other endpoint is a collector of the operator's.
TELEMETRY = Need(
    api="telemetry",
    role="roles/telemetry.writer",
    setting="OTEL_EXPORTER_OTLP_ENDPOINT=https://telemetry.googleapis.com",
)
STORE = Need(api="firestore", role="roles/datastore.user", setting="TASK_STORE=firestore")
WAKEUPS = tuple(Need(api=api, role="", setting="WAKEUPS=pubsub") for api in ("pubsub", "cloudtasks", "cloudscheduler"))

# In the order of deployment: callees before their callers.
FUNCTIONS = (
    Function(
        name="docqa",
        invokers=(Invoker.HUB,),
        is_agent=True,
        mounts_documents=True,
        needs=(SEARCH, MODEL, *EMBEDDINGS),
    ),
    Function(name="general", invokers=(Invoker.HUB,), is_agent=True, needs=(MODEL,)),
    Function(name="expense", invokers=(Invoker.EVERYBODY,), is_agent=True, needs=(MODEL,)),
    Function(name="pm", invokers=(Invoker.HUB,), is_agent=True, needs=(MODEL,)),
    Function(
        name="devtool",
        invokers=(Invoker.HUB,),
        is_agent=True,
        works_on_files=True,
        writes_audit_log=True,
        # IAM lets nobody in but the hub, which signs who asks.
        settings={"TASK_STORE": "firestore", "ALLOW_ANONYMOUS": "true", "ANONYMOUS_SUBJECT": "hub"},
        needs=(replace(STORE, setting=""), replace(MODEL, setting="DEVTOOL_MODEL=gemini")),
    ),
    Function(
        name="agent_card", invokers=(Invoker.GATEWAY,), only_with_gateway=True, reads_routes=True, sends_telemetry=False
    ),
    Function(
        name="hub",
        invokers=(Invoker.GATE, Invoker.TASKS),
        direct_invokers=(Invoker.GEMINI_ENTERPRISE, Invoker.TASKS),
        reads_routes=True,
        checks_callers=True,
        signs_for=("tasks", "docqa", "devtool"),
        publishes_wakeups=True,
        writes_audit_log=True,
        needs=(STORE, *WAKEUPS, replace(MODEL, setting="MCP_MODEL=gemini"), ARMOR),
    ),
    Function(
        name="tasks",
        invokers=(Invoker.WORKERS, Invoker.WAKEUPS),
        reads_routes=True,
        signs_for=("hub",),
        calls=("hub",),
        needs=(replace(STORE, setting=""),),
        only_with=STORE.setting,
        takes_workers=True,
        publishes_wakeups=True,
        writes_audit_log=True,
    ),
    Function(
        name="gate",
        invokers=(Invoker.GATEWAY,),
        only_with_gateway=True,
        checks_callers=True,
        signs_for=("hub",),
        calls=("hub", "agent_card"),
        writes_audit_log=True,
        # API Gateway puts its own token into Authorization, and the caller's here.
        settings={"CALLER_TOKEN_HEADER": "x-forwarded-authorization"},
    ),
    Function(name="console", invokers=(Invoker.EVERYBODY,), only_with_gateway=True, serves_people=True),
    Function(
        name="grpc",
        invokers=(Invoker.EVERYBODY,),
        only_with_gateway=True,
        container="services/grpc",
        sends_telemetry=False,
    ),
)
BY_NAME = {function.name: function for function in FUNCTIONS}
