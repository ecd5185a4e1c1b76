"""`TASKS_URL=… WORKER_TOKEN=… WORKSPACE_MODEL=gemini-2.5-flash python -m workers.workspace` (docs/workspace-worker.md)."""

import os
import sys
from typing import Any

from workers import client

try:
    from workers.workspace import settings
    from workers.workspace.agent import Agent
    from workers.workspace.google import Google, credentials_of
    from workers.workspace.settings import Settings
    from workers.workspace.worker import WorkspaceWorker
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed; install this worker's packages: workers/workspace/requirements.txt")


def worker(own: Settings, **options: Any) -> WorkspaceWorker:
    """Return the work function."""
    google = Google(credentials_of(user=own.user, account=own.account), endpoint=own.endpoint)
    return WorkspaceWorker(Agent(own), google, own, **options)


def main() -> None:
    """Run until stopped."""
    own = settings.read(sys.argv[1:], os.environ)
    client.run_worker(worker(own), roles=own.roles, environ=os.environ)


if __name__ == "__main__":
    main()
