"""The settings that a function may be given in deploy.toml: a misspelt one would do nothing, silently."""

import difflib
from collections.abc import Collection

# Nothing is installed when deploy.toml is read, so that the functions themselves cannot be asked.
SETTINGS = frozenset(
    [
        "ALLOW_ANONYMOUS",
        "ANONYMOUS_SUBJECT",
        "ANSWER_TIMEOUT_SECONDS",
        "CARD_MAX_AGE_SECONDS",
        "CARD_PROTOCOL_VERSION",
        "CARD_SECURITY",
        "CARD_UNNAMED_VERSION",
        "CORPUS_INDEX",
        "DEVTOOL_COMMANDS",
        "DEVTOOL_COMMAND_SECONDS",
        "DEVTOOL_MODEL",
        "DISCOVERY_ENGINE_DATA_STORE",
        "DISCOVERY_ENGINE_ENDPOINT",
        "DISCOVERY_ENGINE_ENGINE",
        "DISCOVERY_ENGINE_LOCATION",
        "DISCOVERY_ENGINE_PROJECT",
        "DISCOVERY_ENGINE_SERVING_CONFIG",
        "GENERAL_MODEL",
        "GOOGLE_CERTS_URL",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_TOKENINFO_URL",
        "GOOGLE_USERINFO_URL",
        "IAM_CREDENTIALS",
        "IDENTITY_TTL_SECONDS",
        "KEEP_ALIVE_SECONDS",
        "MAX_BODY_BYTES",
        "MAX_SOURCE_BYTES",
        "MODEL_IDLE_SECONDS",
        "MODEL_MAX_OUTPUT_TOKENS",
        "MODEL_TIMEOUT_SECONDS",
        "OPERATORS",
        "PASS_CALLER_TOKEN",
        "PHRASE_MODEL",
        "RATE_LIMIT_PER_MINUTE",
        "ROUTES_FILE",
        "ROUTES_SECONDS",
        "SECRET_MANAGER_ENDPOINT",
        "SELECT_MODEL",
        "STORAGE_EMULATOR_HOST",
        "TASK_BLOCKING_SECONDS",
        "TASK_LEASE_SECONDS",
        "TASK_LOOK_SECONDS",
        "TASK_MOST_ATTEMPTS",
        "TASK_MOST_BYTES",
        "TASK_RETENTION_DAYS",
        "TASK_RUNS",
        "TASK_STORE",
        "TASK_STORE_AFTER_SECONDS",
        "TASK_SWEEP_SECONDS",
        "TASK_UI_SECONDS",
        "UI_CONTRACT",
        "VERTEX_AI_ENDPOINT",
        "WAKEUPS",
        "WEBHOOK_ALLOWED_HOSTS",
        "WEBHOOK_ATTEMPTS",
        "WEBHOOK_LOOK_SECONDS",
        "WEBHOOK_PUBLIC_KEYS",
        "WEBHOOK_REFUSALS",
        "WEBHOOK_TIMEOUT_SECONDS",
        "WORKER_LOOK_SECONDS",
        "WORKER_WAITS_AT_ONCE",
    ]
)
_SIMILAR = 0.85


def meant_by(name: str, own: Collection[str]) -> str | None:
    """The setting that a name misspells. None for a setting, for one of the route table's `own` variables, and for any other."""
    if name in SETTINGS or name in own:
        return None
    return next(iter(difflib.get_close_matches(name, SETTINGS, n=1, cutoff=_SIMILAR)), None)
