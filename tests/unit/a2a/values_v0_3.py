"""Hypothesis strategies for 0.3's JSON in both of its dialects, written from its schema and its proto, not from our code."""

from typing import Any

from hypothesis import strategies as st

from a2a_hub.a2a.model import Binding
from tests.unit.a2a.values import BASE64, OBJECTS, TEXTS, TIMESTAMPS

Json = dict[str, Any]
_NAMES = st.text(min_size=1, max_size=8)
_STATES = {
    Binding.JSONRPC: [
        *("submitted", "working", "input-required", "completed", "canceled"),
        *("failed", "rejected", "auth-required", "unknown"),
    ],
    Binding.HTTP_JSON: [
        f"TASK_STATE_{name}"
        for name in (
            *("SUBMITTED", "WORKING", "INPUT_REQUIRED", "COMPLETED", "CANCELLED"),
            *("FAILED", "REJECTED", "AUTH_REQUIRED", "UNSPECIFIED"),
        )
    ],
}
_ENDS = ("completed", "canceled", "cancelled", "failed", "rejected", "input_required", "auth_required")


def _object(required: Json, optional: Json | None = None) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(required, optional=optional or {})


def _kind(dialect: Binding, kind: str) -> Json:
    return {"kind": st.just(kind)} if dialect is Binding.JSONRPC else {}


def parts(dialect: Binding) -> st.SearchStrategy[Json]:
    """Text, file and data parts."""
    rest = dialect is Binding.HTTP_JSON
    about = {"mimeType": TEXTS, "name": TEXTS}
    file = st.one_of(
        _object({"fileWithBytes" if rest else "bytes": BASE64}, about),
        _object({"fileWithUri" if rest else "uri": TEXTS}, about),
    )
    data = OBJECTS.map(lambda value: {"data": value}) if rest else OBJECTS
    optional = {"metadata": OBJECTS}
    return st.one_of(
        _object({"text": TEXTS, **_kind(dialect, "text")}, optional),
        _object({"file": file, **_kind(dialect, "file")}, optional),
        _object({"data": data, **_kind(dialect, "data")}, optional),
    )


def messages(dialect: Binding) -> st.SearchStrategy[Json]:
    """Messages; lists that may be left out are left out or have something in them."""
    rest = dialect is Binding.HTTP_JSON
    roles = st.sampled_from(["ROLE_USER", "ROLE_AGENT"] if rest else ["user", "agent"])
    required = {
        "messageId": TEXTS,
        "role": roles,
        "content" if rest else "parts": st.lists(parts(dialect), max_size=3),
    }
    optional = {"contextId": TEXTS, "taskId": TEXTS, "metadata": OBJECTS, "extensions": _some(TEXTS)}
    if not rest:
        optional["referenceTaskIds"] = _some(TEXTS)
    return _object(required | _kind(dialect, "message"), optional)


def _some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(strategy, min_size=1, max_size=2)


def statuses(dialect: Binding) -> st.SearchStrategy[Json]:
    """Task statuses."""
    return _object(
        {"state": st.sampled_from(_STATES[dialect])}, {"message": messages(dialect), "timestamp": TIMESTAMPS}
    )


def artifacts(dialect: Binding) -> st.SearchStrategy[Json]:
    """Artifacts."""
    return _object(
        {"artifactId": TEXTS, "parts": st.lists(parts(dialect), max_size=3)},
        {"name": TEXTS, "description": TEXTS, "metadata": OBJECTS, "extensions": _some(TEXTS)},
    )


def tasks(dialect: Binding) -> st.SearchStrategy[Json]:
    """Tasks."""
    return _object(
        {"id": TEXTS, "contextId": TEXTS, "status": statuses(dialect), **_kind(dialect, "task")},
        {
            "artifacts": _some(artifacts(dialect)),
            "history": _some(messages(dialect)),
            "metadata": OBJECTS,
        },
    )


def status_updates(dialect: Binding) -> st.SearchStrategy[Json]:
    """Status updates whose `final` fits their state."""
    update = _object(
        {
            "taskId": TEXTS,
            "contextId": TEXTS,
            "status": statuses(dialect),
            **_kind(dialect, "status-update"),
        },
        {"metadata": OBJECTS},
    )
    return update.map(lambda event: event | {"final": _ends(event["status"]["state"])})


def _ends(state: str) -> bool:
    return state.lower().replace("-", "_").removeprefix("task_state_") in _ENDS


def artifact_updates(dialect: Binding) -> st.SearchStrategy[Json]:
    """Artifact updates."""
    return _object(
        {
            "taskId": TEXTS,
            "contextId": TEXTS,
            "artifact": artifacts(dialect),
            "append": st.booleans(),
            "lastChunk": st.booleans(),
            **_kind(dialect, "artifact-update"),
        },
        {"metadata": OBJECTS},
    )


def events(dialect: Binding) -> st.SearchStrategy[Json]:
    """Results and stream events: bare in JSON-RPC, in a wrapper in HTTP+JSON."""
    forms = {
        "task": tasks(dialect),
        "message": messages(dialect),
        "statusUpdate": status_updates(dialect),
        "artifactUpdate": artifact_updates(dialect),
    }
    if dialect is Binding.JSONRPC:
        return st.one_of(*forms.values())
    return st.one_of(*(_object({name: form}) for name, form in forms.items()))


_PUSH = _object(
    {"url": TEXTS},
    {
        "id": _NAMES,
        "token": TEXTS,
        "authentication": _object({"schemes": st.lists(_NAMES, min_size=1, max_size=1)}, {"credentials": TEXTS}),
    },
)


def push_configs(dialect: Binding) -> st.SearchStrategy[Json]:
    """Push configs of a task, with one authentication scheme at the most."""
    if dialect is Binding.JSONRPC:
        return _object({"taskId": TEXTS, "pushNotificationConfig": _PUSH})
    segment = st.text("abc-0", min_size=1, max_size=5)
    return st.builds(
        lambda task, config, push: {
            "name": f"tasks/{task}/pushNotificationConfigs/{config}",
            "pushNotificationConfig": push | {"id": config},
        },
        segment,
        segment,
        _PUSH,
    )


def sends(dialect: Binding) -> st.SearchStrategy[Json]:
    """Parameters of message/send and message/stream."""
    configuration = _object(
        {"acceptedOutputModes": st.lists(TEXTS, max_size=2), "blocking": st.booleans()},
        {
            "historyLength": st.integers(1, 2**31 - 1),
            "pushNotification" if dialect is Binding.HTTP_JSON else "pushNotificationConfig": _PUSH,
        },
    )
    return _object({"message": messages(dialect)}, {"configuration": configuration, "metadata": OBJECTS})


_SCOPES = st.dictionaries(TEXTS, TEXTS, max_size=2)
_REFRESH = {"refreshUrl": TEXTS}
_FLOWS = st.one_of(
    _object(
        {"authorizationCode": _object({"authorizationUrl": TEXTS, "tokenUrl": TEXTS, "scopes": _SCOPES}, _REFRESH)}
    ),
    _object({"clientCredentials": _object({"tokenUrl": TEXTS, "scopes": _SCOPES}, _REFRESH)}),
    _object({"implicit": _object({"authorizationUrl": TEXTS, "scopes": _SCOPES}, _REFRESH)}),
    _object({"password": _object({"tokenUrl": TEXTS, "scopes": _SCOPES}, _REFRESH)}),
)
_SAID = {"description": TEXTS}
_SCHEMES = st.one_of(
    _object(
        {"type": st.just("apiKey"), "in": st.sampled_from(["query", "header", "cookie"]), "name": TEXTS},
        _SAID,
    ),
    _object({"type": st.just("http"), "scheme": TEXTS}, {"bearerFormat": TEXTS, **_SAID}),
    _object({"type": st.just("oauth2"), "flows": _FLOWS}, {"oauth2MetadataUrl": TEXTS, **_SAID}),
    _object({"type": st.just("openIdConnect"), "openIdConnectUrl": TEXTS}, _SAID),
    _object({"type": st.just("mutualTLS")}, _SAID),
)
_SECURITY = st.lists(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=2), max_size=2), min_size=1, max_size=2)
_MODES = st.lists(TEXTS, max_size=2)
_EXTENSIONS = _some(_object({"uri": TEXTS}, {"description": TEXTS, "required": st.just(True), "params": OBJECTS}))
_SKILLS = _object(
    {"id": TEXTS, "name": TEXTS, "description": TEXTS, "tags": _MODES},
    {
        "examples": _some(TEXTS),
        "inputModes": _some(TEXTS),
        "outputModes": _some(TEXTS),
        "security": _SECURITY,
    },
)


def cards() -> st.SearchStrategy[Json]:
    """Agent cards that list their own URL among the additional interfaces, as the specification recommends."""
    bindings = st.sampled_from(["JSONRPC", "HTTP+JSON", "GRPC"])
    card = _object(
        {
            "protocolVersion": st.just("0.3.0"),
            "name": TEXTS,
            "description": TEXTS,
            "url": TEXTS,
            "preferredTransport": bindings,
            "version": TEXTS,
            "capabilities": _object(
                {},
                {
                    "streaming": st.booleans(),
                    "pushNotifications": st.booleans(),
                    "extensions": _EXTENSIONS,
                },
            ),
            "defaultInputModes": _MODES,
            "defaultOutputModes": _MODES,
            "skills": st.lists(_SKILLS, max_size=2),
        },
        {
            "provider": _object({"organization": TEXTS, "url": TEXTS}),
            "iconUrl": TEXTS,
            "documentationUrl": TEXTS,
            "securitySchemes": st.dictionaries(TEXTS, _SCHEMES, min_size=1, max_size=2),
            "security": _SECURITY,
            "supportsAuthenticatedExtendedCard": st.booleans(),
        },
    )
    others = st.lists(_object({"url": TEXTS, "transport": bindings}), max_size=2)
    return st.builds(_with_interfaces, card, others)


def _with_interfaces(card: Json, others: list[Json]) -> Json:
    listed = [{"url": card["url"], "transport": card["preferredTransport"]}]
    listed += [other for index, other in enumerate(others) if other not in [*listed, *others[:index]]]
    return card | {"additionalInterfaces": listed}
