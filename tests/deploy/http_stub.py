"""`http_stub.py FILE`: answers by path as FILE says (path, status, WWW-Authenticate or -, body); prints its port."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

ANSWERS = {line.split()[0]: line.split(maxsplit=3)[1:] for line in Path(sys.argv[1]).read_text().splitlines()}


class Handler(BaseHTTPRequestHandler):
    """One answer a path."""

    def do_GET(self) -> None:
        """Answers."""
        status, authenticate, body = ANSWERS[self.path]
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(int(status))
        if authenticate != "-":
            self.send_header("WWW-Authenticate", authenticate)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        """Answers, too."""
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


server = HTTPServer(("127.0.0.1", 0), Handler)
sys.stdout.write(f"{server.server_port}\n")
sys.stdout.flush()
server.serve_forever()
