"""How the values of deploy.toml are written."""

import re
from typing import NamedTuple


class Format(NamedTuple):
    """What a value must match as a whole, and how that is said."""

    pattern: re.Pattern[str]
    words: str


PROJECT = Format(re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]"), "a project id, such as my-project-123")
NUMBER = Format(re.compile(r"[0-9]{6,20}"), "a project number: digits, in quotes")
REGION = Format(re.compile(r"[a-z]+-[a-z]+[0-9]+"), "a region, such as asia-northeast1")
EMAIL = Format(re.compile(r"[^@\s'\"]+@[^@\s'\"]+\.[a-z]+"), "an e-mail address")
SERVICE_ACCOUNT = Format(
    re.compile(r"[a-z0-9-]+@[a-z0-9.:-]+\.gserviceaccount\.com"), "the address of a service account"
)
WORD = Format(re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}"), "letters, digits, hyphens")
# Service accounts have 6 to 30 characters, and the longest name that follows is agent-card.
PREFIX = Format(
    re.compile(r"[a-z][a-z0-9-]{2,18}-"),
    "4 to 20 lower-case letters, digits, hyphens, with a hyphen at its end",
)
RUNTIME = Format(re.compile(r"python3[0-9]{2}"), "a Python runtime, such as python313")
SECRET = Format(re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,254}"), "a secret's name: letters, digits, hyphens")
BUCKET = Format(re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]"), "a bucket's name, without gs://")
CLIENT_ID = Format(
    re.compile(r"[0-9]+(-[a-z0-9]+)?\.apps\.googleusercontent\.com"),
    "an OAuth client id, such as 123456789012-abc123.apps.googleusercontent.com",
)
DOMAIN = Format(re.compile(r"([a-z0-9-]+\.)+[a-z]+"), "a domain, such as example.com")
MEMORY = Format(re.compile(r"[1-9][0-9]*(Mi|Gi)"), "an amount of memory, such as 512Mi")
CPU = Format(
    re.compile(r"[12468]|0\.(0[89]|[1-9][0-9]?)"),
    'a number of CPUs in quotes: "1", "2", "4", "6", "8", or less than one, such as "0.5"',
)
ADDRESS = Format(
    re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?(/[^\s?#]*)?"),
    "an address that starts with https://",
)
VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9_]*")

# Names that deploy.toml has a key for, or that follow from where a function is.
SET_BY_DEPLOYMENT = {
    "THREADS": "threads",
    "LOG_TEXT": "log_text, for all functions",
    "GOOGLE_CLOUD_PROJECT": "project",
    "COMMIT_SHA": "from git",
    "CORPUS_DIR": "corpus_bucket",
    "DEVTOOL_WORKSPACES": "workspace_bucket",
    "DEVTOOL_DEFAULT_WORKSPACE": "workspace_bucket",
    "PUBLIC_URL": "the function's own address",
    "HUB_PUBLIC_URL": "public_url of [gateway], or the gateway's own address",
    "HUB_URL": "the hub's own address",
    "AGENT_CARD_URL": "the function's own address",
    "WAKEUP_ACCOUNTS": "WAKEUPS of the hub",
    "WORKER_ACCOUNTS": "[functions.tasks.workers]",
    "CALLER_TOKEN_HEADER": "what API Gateway does",
    "GOOGLE_TOKEN_AUDIENCES": "oauth_client_ids in [identity]",
    "GOOGLE_TOKEN_DOMAINS": "domains in [identity]",
    "ID_TOKEN_AUDIENCES": "id_token_audiences in [identity]",
    "ID_TOKEN_CALLERS": "id_token_callers in [identity]",
    "GATE_SIGNING_KEY": "signing_key in [secrets]; no secret belongs into this file",
    "WEBHOOK_SIGNING_KEY": "webhook_key in [secrets]; no secret belongs into this file",
    "CLIENTS_FILE": "clients in [secrets]; no secret belongs into this file",
    "A2A_GATEWAY_TOKEN": "gateway_token in [secrets]; no secret belongs into this file",
    "HUB_DEV_TOKEN": "to nothing, since development tokens are for one machine",
}
