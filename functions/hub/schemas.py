"""The bodies of the hub's own endpoints. `openapi.yaml` is generated from them, under the same names (local/docs/openapi.py)."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from a2a_hub.boundaries.kinds import KINDS
from functions.hub.failure import FailureKind
from functions.hub.misses import MissKind


class Query(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """One question."""

    query: Annotated[str, Meta(min_length=1)]
    context_id: Annotated[str | None, Meta(description="The conversation to continue, from an earlier answer.")] = None
    route: Annotated[str | None, Meta(description="The id of the route to use, instead of the rules.")] = None
    document: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Of `docqa`. It gives the text of the document around `quote`, or else `query`, as `data.document`, "
            "to those who may read it. `uri`, `start` and `quote` are those of a citation.",
            extra_json_schema={
                "required": ["uri"],
                "properties": {"uri": {"type": "string"}, "start": {"type": "integer"}, "quote": {"type": "string"}},
            },
        ),
    ] = None
    dry_run: Annotated[
        bool | None,
        Meta(
            description="True only chooses the route. No agent is asked, and `passedOver` says why other routes were not "
            "chosen."
        ),
    ] = None


class Timings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The time until the route was chosen, and that of the agents."""

    routing_ms: float
    downstream_ms: float


class Failure(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Only operators see the cause and the remedy, which name accounts, resources and settings."""

    kind: FailureKind
    fault: str
    cause: str | None = None
    remedy: str | None = None
    http_status: int | None = None
    retry_after_seconds: float | None = None


class Answer(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer. If the agent failed, `error` is set."""

    route: Annotated[
        str | None,
        Meta(description="The id of the route whose agent answered; null if there was no text to route."),
    ]
    reason: Annotated[
        str, Meta(description="The rule that chose the route, the words that matched, and the agents that declined.")
    ]
    agent: str | None
    boundary: Annotated[str | None, Meta(extra_json_schema={"enum": [*KINDS, None]})]
    answer: str
    data: Annotated[
        dict[str, Any] | list[Any] | None,
        Meta(
            description="The agent's structured result; a list if it sent several. `declined` lists the agents that were "
            "asked before, each with its reason."
        ),
    ]
    citations: list[Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/components/schemas/Citation"})]]
    timings: Timings
    error: Failure | None
    context_id: str
    request_id: str
    passed_over: Annotated[
        dict[str, str] | UnsetType, Meta(description="Only for a dry run. The reasons by the ids of the routes.")
    ] = UNSET
    rule: Annotated[str | UnsetType, Meta(description="Only for a dry run: the kind of rule that chose the route.")] = (
        UNSET
    )
    words: Annotated[
        tuple[str, ...] | UnsetType, Meta(description="Only for a dry run: the words of the text that matched.")
    ] = UNSET


class Route(Struct, frozen=True, kw_only=True, rename="camel"):
    """One route, without the agent's address."""

    id: str
    name: str
    name_ja: str
    description: str
    description_ja: str
    examples: tuple[str, ...]
    keywords: tuple[str, ...]
    patterns: tuple[str, ...]
    priority: int
    boundary: Annotated[str, Meta(extra_json_schema={"enum": [*KINDS]})]
    sticky: bool
    follow_ups: bool
    default: bool
    fallbacks: tuple[str, ...]


class Routes(Struct, frozen=True):
    """The route table, without addresses."""

    routes: list[Route]


class Version(Struct, frozen=True, kw_only=True, rename="camel"):
    """Version, commit and the supported protocol versions."""

    version: str
    commit: str
    protocol_versions: list[str]


class UnfinishedTask(Struct, frozen=True, kw_only=True, rename="camel"):
    """A submitted or working task, without its content."""

    id: str
    role: Annotated[str | None, Meta(description="The role of its workers; null if the hub runs it.")]
    state: Annotated[str, Meta(extra_json_schema={"enum": ["SUBMITTED", "WORKING"]})]
    holder: Annotated[str | None, Meta(description="The worker with the lease.")]
    attempt: int
    lease_until: Annotated[float | None, Meta(description="Seconds since the epoch; null without a lease.")]
    created_at: float


class Miss(Struct, frozen=True, kw_only=True):
    """Texts alike that no agent answered, no rule matched, or the chosen agent declined."""

    kind: Annotated[
        MissKind,
        Meta(description="No agent had an answer; no rule matched; the agent declined, and another one answered."),
    ]
    route: Annotated[str, Meta(description="The chosen route.")]
    text: Annotated[str | None, Meta(description="Only with `LOG_TEXT`, and redacted.")]
    count: int


class Activity(Struct, frozen=True, kw_only=True):
    """At most 100 tasks, longest due first, and the most frequent misses of the last `days`."""

    tasks: list[UnfinishedTask]
    misses: list[Miss]
    days: int
