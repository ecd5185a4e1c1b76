"""`python -m tests.fakes.gemini_enterprise`: the stand-in as a program, to try a registration without a cloud."""

import argparse
import threading

from local.ports import why_not_free
from tests.fakes.gemini_enterprise.server import Server
from tests.fakes.gemini_enterprise.world import OAuthClient, Operator, World


def main() -> None:
    """Serve one project until it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.gemini_enterprise", description=__doc__)
    parser.add_argument("--port", type=int, default=8800)
    parser.add_argument("--project", default="demo", help="the project's id")
    parser.add_argument("--app", action="append", metavar="LOCATION/APP", help="an app (default: global/hub-app)")
    parser.add_argument("--client", default="client-1:secret-1", metavar="ID:SECRET", help="the OAuth client")
    parser.add_argument("--access-token", default="operator", help="the token of an administrator")
    arguments = parser.parse_args()
    if reason := why_not_free(arguments.port):
        parser.error(f"port {arguments.port} cannot be used ({reason}): choose another with --port")
    client_id, _, secret = arguments.client.partition(":")
    apps = [app.partition("/") for app in arguments.app or ["global/hub-app"]]
    world = World(
        project_id=arguments.project,
        apps={(location, app) for location, _, app in apps},
        operators={arguments.access_token: Operator(email="admin@example.com")},
        clients={client_id: OAuthClient(id=client_id, secret=secret)},
    )
    with Server(world, port=arguments.port, seen=lambda *request: print(*request, flush=True)) as server:
        print(f"ready: hubctl register --endpoint '{server.endpoint}' …", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
