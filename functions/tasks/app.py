"""The only place where the tasks function's parts are wired."""

from __future__ import annotations

import time

from functions.tasks.background import Background
from functions.tasks.config import Config
from functions.tasks.hub_runs import HubRuns
from shared.agent_function import health, not_found, stdout_log
from shared.http import Handler, Request, Response
from shared.http_client import HttpClient
from shared.identity.own_tokens import DefaultCredentials
from shared.ids import new_id
from shared.log import Log, Record
from shared.task_store.opening import open_store
from shared.threads import Threads

_MOST_PURGED = 500
_PURGE_EVERY_SECONDS = 600.0


def build(config: Config, *, log: Log | None = None) -> Handler:
    """The function's handler. Its background work begins when its process serves."""
    log = log or stdout_log("tasks", project=config.hub.google_cloud_project)
    store = open_store(config.store, clock=time.time, new_token=new_id)
    signer = config.identity.signer()
    assert signer is not None, "the settings have been checked"
    runs = HubRuns(
        store,
        hub_url=config.hub_url,
        http=HttpClient(),
        signer=signer,
        tokens=DefaultCredentials() if config.uses_google_credentials else None,
        log=log,
        threads=Threads("hub run"),
    )

    def purge() -> None:
        while store.purge(ended_before=time.time() - config.retention_seconds, limit=_MOST_PURGED):
            pass

    background = Background(log)
    background.every(config.sweep_seconds, runs.look, name="The sweep for tasks that nobody runs")
    background.every(_PURGE_EVERY_SECONDS, purge, name="The deletion of old tasks")

    def handle(request: Request, _: Record) -> Response:
        background.start()
        return health(request, "A2A hub: tasks") or not_found(request)

    return log.requests(handle)
