"""Every gcloud command that deploy.sh can show has flags that the real gcloud knows."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.deploy.deployments import copied_tree, without_cloud
from tests.deploy.plans import EXAMPLE, SHIPPED, WATCHED
from tests.deploy.test_organisation_rules import KEY
from tests.deploy.test_stored_tasks import CONFIG, ROUTE
from tests.deploy.tools import ROOT, program

POOL = "projects/my-hub-project/locations/asia-northeast1/workerPools/w"
DOCUMENTS = EXAMPLE.replace('# corpus_bucket = "my-documents"', 'corpus_bucket = "my-documents"').replace(
    "[secrets]", '[secrets]\nclients = "a2a-clients"\ngateway_token = "a2a-token"'
)
STORED_TASKS = EXAMPLE + "".join(CONFIG.partition("[functions.hub.environment]")[1:])
VERBS = (
    *("run deploy", "functions deploy", "api-gateway gateways create", "storage buckets"),
    *("firestore databases create", "firestore indexes composite create", "firestore indexes fields update"),
    *("pubsub topics create", "pubsub topics add-iam-policy-binding", "pubsub subscriptions create"),
    *("tasks queues create", "tasks queues add-iam-policy-binding", "scheduler jobs create http"),
    *("iam service-accounts add-iam-policy-binding", "org-policies describe", "beta quotas info list"),
    *("run services update-traffic", "run services delete", "firestore databases delete", "secrets versions access"),
    *("beta services identity create", "kms keys get-iam-policy", "kms keys add-iam-policy-binding"),
    *("artifacts repositories describe", "artifacts repositories create", "tasks queues purge"),
    *("monitoring dashboards create", "alpha monitoring policies create"),
)
# Settings and options that together show every command there is.
WAYS = (
    (DOCUMENTS, ()),
    (STORED_TASKS, ("--only=tasks,prepare",)),
    (SHIPPED, ("--direct", "--mode=functions")),
    (EXAMPLE + "[functions.grpc]\n", ("--only=grpc",)),
    (f'kms_key = "{KEY}"\n{EXAMPLE}', ("--only=prepare",)),
    (f'kms_key = "{KEY}"\nworker_pool = "{POOL}"\n{EXAMPLE}', ("--only=hub",)),
    (f'kms_key = "{KEY}"\nworker_pool = "{POOL}"\n{EXAMPLE}', ("--only=hub", "--mode=functions")),
    (WATCHED, ("--only=monitoring",)),
    *((SHIPPED, options) for options in (("preflight",), ("rollback",), ("delete", "--data"))),
    (SHIPPED, ("--canary=10", "--only=hub")),
    (EXAMPLE.replace("# streaming = true", "streaming = false"), ("--only=gateway",)),
)


def unquoted(command: str) -> str:
    """As the linter reads it, which takes quotes for a part of the word; no word of ours has a space."""
    # The schedule of every minute.
    words = shlex.split(command.replace("* * * * *", "*"))
    assert not [word for word in words if " " in word]
    return " ".join(words)


def lint(commands: list[str], folder: Path) -> list[dict[str, Any]]:
    file = folder / "commands.json"
    file.write_text(json.dumps([{"command_string": unquoted(command)} for command in commands]))
    done = subprocess.run(
        [program("gcloud"), "meta", "lint-gcloud-commands", f"--commands-file={file}"],
        env=without_cloud(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(answers) == len(commands)
    return answers


def test_every_command_of_every_way_has_flags_that_gcloud_knows(tmp_path: Path) -> None:
    tree = copied_tree(tmp_path)
    with (tree / "routes.toml").open("a") as routes:
        routes.write(ROUTE)
    commands: set[str] = set()
    for text, options in WAYS:
        (tree / "deploy.toml").write_text(text)
        shown = subprocess.run(
            ["./deploy.sh", "--dry-run", *options],
            cwd=tree,
            env=without_cloud(tmp_path),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        commands |= {line for line in shown.splitlines() if line.startswith("gcloud ")}
    rotation = [sys.executable, "-m", "deploy", "--config", str(tree / "deploy.toml"), "rotate-key", "hub", "--dry-run"]
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}"}
    shown = subprocess.run(
        rotation, env=without_cloud(tmp_path) | paths, capture_output=True, text=True, check=True
    ).stdout
    commands |= set(shown.splitlines())
    for verb in VERBS:
        assert any(command.startswith(f"gcloud {verb} ") for command in commands), verb
    answers = lint(sorted(commands), tmp_path)
    assert [f"{a['command_string']}: {a['error_message']}" for a in answers if not a["success"]] == []


def test_every_command_of_the_documents_has_flags_that_gcloud_knows(tmp_path: Path) -> None:
    commands = []
    for name in ("deployment.md", "gemini-enterprise.md"):
        text = (ROOT / "docs" / name).read_text().replace("\\\n", " ")
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        commands += re.findall(r"(?:^|\| )(gcloud .*)", "\n".join(blocks), re.MULTILINE)
    assert len(commands) >= 5
    # gcloud looks at how a project is written.
    # It answers once for a command that comes twice.
    named = {re.sub(r"--project=\S+", "--project=my-project", command.partition(" > ")[0]) for command in commands}
    answers = lint(sorted(named), tmp_path)
    assert [f"{a['command_string']}: {a['error_message']}" for a in answers if not a["success"]] == []


def test_a_flag_that_gcloud_does_not_know_is_found(tmp_path: Path) -> None:
    good, bad = lint(["gcloud run deploy x --cpu-boost --region=r", "gcloud run deploy x --cpu-bost"], tmp_path)
    assert good["success"]
    assert not bad["success"]
