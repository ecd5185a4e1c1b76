"""What the operator of a local run is told when everything answers."""

import json
import shlex
from collections.abc import Mapping

from local.settings import Settings

_QUESTION = "What is the deadline for notifying the infrastructure team for a P-1 incident?"


def welcome(settings: Settings, *, cloud: Mapping[str, str], workers_url: str = "") -> str:
    """The address, the tokens, where the logs are, where the local cloud is, where workers fetch tasks, and a question to paste
    into a shell.
    """
    message = {
        "kind": "message",
        "messageId": "first-question",
        "role": "user",
        "parts": [{"kind": "text", "text": _QUESTION}],
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    authorization = shlex.quote(f"Authorization: Bearer {settings.first_token}")
    headers = f"-H {authorization} -H 'Content-Type: application/json'"
    return "\n".join(
        [
            f"ready {settings.url}",
            f"development token{'s' if ',' in settings.dev_token else ''}: {settings.dev_token}",
            f"logs: {settings.folder}",
            *(f"local cloud: {name} {url} (its faults: curl {url}/__faults)" for name, url in cloud.items()),
            *(
                [
                    f"its gcloud, for the commands of the doctor: PATH={shlex.quote(f'{settings.folder}/bin')}:$PATH"
                ]
                if cloud
                else []
            ),
            *([f"for workers: TASKS_URL={workers_url}"] if workers_url else []),
            "ask it something:",
            f"  curl {settings.url}/ {headers} -d {shlex.quote(json.dumps(request))}",
        ]
    )
