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
    holds_signing_key: bool = False
    """True if it holds the key with which the gate signs principals."""
    mounts_documents: bool = False
    """True if it answers from a bucket."""
    mounts_workspace: bool = False
    """True if it works on the files of a bucket."""
    calls: tuple[str, ...] = ()
    """Functions whose addresses it gets, beside those of the route table."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The variables that it always has."""
    needs: tuple[Need, ...] = ()
    only_with: str = ""
    """Deployed only where one of the hub's settings, written NAME=value, begins like this; empty: always."""
    only_with_table: bool = False
    """Deployed only where deploy.toml has a table for it."""
    lives_alone: bool = False
    """True if it runs commands of its callers, and so is kept away from the project of the hub."""
    keeps_own_tasks: bool = False
    """True if it keeps tasks in a database of its own project."""
    takes_workers: bool = False
    """True if workers outside get their work from it."""
    works_alone: bool = False
    """True if it works between requests, and so needs an instance at all times."""
    concurrency: int = 80
    """Requests that one instance takes at once, unless deploy.toml sets another number."""


SEARCH = Need(api="discoveryengine", role="roles/discoveryengine.viewer", setting="DISCOVERY_ENGINE_")
MODEL = Need(api="aiplatform", role="roles/aiplatform.user", setting="GENERAL_MODEL")
STORE = Need(api="firestore", role="roles/datastore.user", setting="TASK_STORE=firestore")
WAKEUPS = Need(api="pubsub", role="", setting="WAKEUPS=pubsub")
PHRASES = replace(MODEL, setting="PHRASE_MODEL")
SELECTS = replace(MODEL, setting="SELECT_MODEL")

# In the order of deployment: callees before their callers.
FUNCTIONS = (
    Function(
        name="docqa",
        invokers=(Invoker.HUB,),
        is_agent=True,
        mounts_documents=True,
        needs=(SEARCH, PHRASES, SELECTS),
    ),
    Function(name="general", invokers=(Invoker.HUB,), is_agent=True, needs=(MODEL,)),
    Function(name="expense", invokers=(Invoker.EVERYBODY,), is_agent=True, needs=(PHRASES,)),
    Function(name="pm", invokers=(Invoker.HUB,), is_agent=True, needs=(PHRASES,)),
    Function(
        name="devtool",
        invokers=(Invoker.HUB,),
        is_agent=True,
        mounts_workspace=True,
        only_with_table=True,
        lives_alone=True,
        keeps_own_tasks=True,
        # IAM lets nobody in but the hub, which keeps its callers' tasks apart by itself.
        settings={"TASK_STORE": "firestore", "ALLOW_ANONYMOUS": "true", "ANONYMOUS_SUBJECT": "hub"},
        needs=(replace(STORE, setting=""), replace(MODEL, setting="DEVTOOL_MODEL")),
    ),
    Function(name="agent_card", invokers=(Invoker.GATEWAY,), only_with_gateway=True, reads_routes=True),
    Function(
        name="hub",
        invokers=(Invoker.GATE, Invoker.TASKS),
        direct_invokers=(Invoker.GEMINI_ENTERPRISE, Invoker.TASKS),
        reads_routes=True,
        checks_callers=True,
        holds_signing_key=True,
        needs=(STORE, WAKEUPS),
    ),
    Function(
        name="tasks",
        invokers=(Invoker.WORKERS, Invoker.WAKEUPS),
        reads_routes=True,
        holds_signing_key=True,
        calls=("hub",),
        needs=(replace(STORE, setting=""),),
        only_with=STORE.setting,
        takes_workers=True,
        works_alone=True,
    ),
    Function(
        name="gate",
        invokers=(Invoker.GATEWAY,),
        only_with_gateway=True,
        checks_callers=True,
        holds_signing_key=True,
        calls=("hub", "agent_card"),
        # API Gateway puts its own token into Authorization, and the caller's here.
        settings={"CALLER_TOKEN_HEADER": "x-forwarded-authorization"},
    ),
)
BY_NAME = {function.name: function for function in FUNCTIONS}
