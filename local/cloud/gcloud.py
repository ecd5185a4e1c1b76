"""`python -m local.cloud.gcloud CLOUD_JSON ARGUMENTS…`: the gcloud commands that fix something, carried out on the stand-ins.

A run over the local cloud puts it on its own PATH as `gcloud` (`.run/PORT/bin`), so that a command that the doctor prints for
Google Cloud can be pasted unchanged. It refuses other commands with status 2; nothing reaches Google.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from a2a_hub.http.client import HttpClient, fetch
from a2a_hub.http.messages import JSON
from local.cloud.cloud_run import SERVICE
from local.cloud.wiring import OPERATOR_TOKEN

_BY_API = {"discoveryengine": "discovery-engine", "storage": "storage", "aiplatform": "vertex-ai"}
_SECONDS = 10.0
_SERVICE_OPTIONS = {
    "add-custom-audiences": "add_audience",
    "max-instances": "max_instances",
    "min-instances": "min_instances",
}


class NotKnown(Exception):
    """The command is none that is known here, or the local cloud refuses it."""


class Command:
    """The words of a command, its options without their dashes, and the stand-ins at `urls`, changed as their administrator.

    `--name=value` and `--name value` are options, the rest are words.
    """

    def __init__(self, arguments: Sequence[str], urls: Mapping[str, str]) -> None:
        self.words: list[str] = []
        self.options: dict[str, str] = {}
        self._urls = urls
        left = list(arguments)
        while left:
            argument = left.pop(0)
            name, equals, value = argument.removeprefix("--").partition("=")
            if not argument.startswith("--"):
                self.words.append(argument)
            elif equals or not left or left[0].startswith("--"):
                self.options[name] = value
            else:
                self.options[name] = left.pop(0)

    def option(self, name: str) -> str:
        """Return an option's value. Raises NotKnown without it."""
        if name not in self.options:
            raise NotKnown(f"--{name} is missing")
        return self.options[name]

    def call(self, stand_in: str, method: str, path: str, value: Any = None) -> Any:
        """Return the decoded answer. Raises NotKnown where there is no such stand-in, or it refuses."""
        if stand_in not in self._urls:
            raise NotKnown(f"there is no {stand_in} in this local cloud, only {', '.join(self._urls)}")
        body = None if value is None else json.dumps(value).encode()
        headers = {"authorization": f"Bearer {OPERATOR_TOKEN}", "content-type": JSON}
        url = self._urls[stand_in] + path
        answer, content = fetch(HttpClient(), method, url, headers=headers, body=body, seconds=_SECONDS)
        if answer.status >= 400:
            raise NotKnown(f"{stand_in} answered HTTP {answer.status}: {content.decode(errors='replace')}")
        return json.loads(content or b"null")

    def run(self) -> str:
        """Run the command and return its output. Raises NotKnown."""
        for words, carry_out in _COMMANDS.items():
            if tuple(self.words[: len(words)]) == words:
                return carry_out(self)
        raise NotKnown(f"gcloud {' '.join(self.words)} is not known to the local cloud")


def _add_invoker(command: Command) -> str:
    service = command.words[3]
    if command.option("role") != "roles/run.invoker":
        raise NotKnown("a service knows only roles/run.invoker")
    command.call(f"{service}-front", "POST", SERVICE, {"add_invoker": command.option("member")})
    return f"Updated IAM policy for service [{service}]."


def _update_service(command: Command) -> str:
    service = command.words[3]
    for option, key in _SERVICE_OPTIONS.items():
        if option in command.options:
            command.call(f"{service}-front", "POST", SERVICE, {key: command.options[option]})
    if "update-env-vars" in command.options:
        # A new revision has new instances: what their metadata server gives them is new as well.
        command.call(f"metadata-{service}", "DELETE", "/__faults")
    return f"Service [{service}] revision has been deployed."


def _bind_bucket(command: Command) -> str:
    bucket = command.words[3].removeprefix("gs://")
    path = f"/storage/v1/b/{quote(bucket, safe='')}/iam"
    command.call("storage", "PUT", path, _with_binding(command.call("storage", "GET", path), command))
    return f"Updated IAM policy for bucket [{bucket}]."


def _bind_project(command: Command) -> str:
    project = command.words[2]
    stand_in = "vertex-ai" if command.option("role").startswith("roles/aiplatform.") else "discovery-engine"
    path = f"/v1/projects/{project}"
    policy = command.call(stand_in, "POST", f"{path}:getIamPolicy", {})
    command.call(stand_in, "POST", f"{path}:setIamPolicy", {"policy": _with_binding(policy, command)})
    return f"Updated IAM policy for project [{project}]."


def _with_binding(policy: dict[str, Any], command: Command) -> dict[str, Any]:
    added = {"role": command.option("role"), "members": [command.option("member")]}
    return {**policy, "bindings": [*policy.get("bindings", []), added]}


def _enable(command: Command) -> str:
    api = command.words[2]
    path = f"/v1/projects/{command.option('project')}/services/{api}:enable"
    command.call(_BY_API[api.partition(".")[0]], "POST", path, {})
    return "Operation finished successfully."


def _more_quota(command: Command) -> str:
    stand_in = _BY_API[command.option("service").partition(".")[0]]
    command.call(stand_in, "DELETE", "/__faults/quota")
    return f"grantedValue: '{command.option('preferred-value')}'"


_COMMANDS: Mapping[tuple[str, ...], Callable[[Command], str]] = {
    ("run", "services", "add-iam-policy-binding"): _add_invoker,
    ("run", "services", "update"): _update_service,
    ("storage", "buckets", "add-iam-policy-binding"): _bind_bucket,
    ("projects", "add-iam-policy-binding"): _bind_project,
    ("services", "enable"): _enable,
    ("beta", "quotas", "info", "list"): lambda _: "SearchRequestsPerMinutePerProject",
    ("beta", "quotas", "preferences", "create"): _more_quota,
}


def main(arguments: Sequence[str]) -> int:
    """Return 0 after the command was carried out, 2 for an unknown one."""
    urls = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    try:
        print(Command(arguments[1:], urls).run())
    except (NotKnown, IndexError) as problem:
        print(f"gcloud (local cloud): {problem}", file=sys.stderr)
        return 2
    return 0


def write_program(folder: Path, cloud_file: Path, *, root: Path) -> Path:
    """Write the program `gcloud` into `folder`, for the PATH of the operator of the local cloud of `cloud_file`."""
    folder.mkdir(exist_ok=True)
    program = folder / "gcloud"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m local.cloud.gcloud "{cloud_file}" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
