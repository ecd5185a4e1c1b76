"""Who gives out tokens besides the metadata server: OAuth's token endpoint, the Security Token Service, IAM Credentials.

The libraries reach the last one at iamcredentials.googleapis.com only: this server is the proxy that they are told to use, and
ends their TLS with a certificate of its own.
"""

import datetime
import ipaddress
import json
import ssl
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from local.cloud.accounts import SigningKey, id_token_claims
from tests.fakes.metadata_server import claims_of

HOST = "iamcredentials.googleapis.com"
ACCOUNT = "hub@my-hub-project.iam.gserviceaccount.com"


class TokenIssuers:
    """The server; `asked` are the paths that were asked, each with the token that it was asked with."""

    def __init__(self, folder: Path, *, lifetime_seconds: float = 3600) -> None:
        self.folder = folder
        self._lifetime_seconds = lifetime_seconds
        self.key = SigningKey()
        self.asked: list[tuple[str, str]] = []
        self.gone = False
        self._ca = folder / "ca.pem"
        self._context = _tls(self._ca, folder / "key.pem")
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # A connection that is kept open outlives the server that accepted it.
        self.gone = True
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        """Its address without TLS."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def environment(self, credentials: Mapping[str, Any], *, as_gcloud: bool = False) -> dict[str, str]:
        """Return what makes `credentials` the application default, by the variable or as gcloud leaves them."""
        file = self.folder / "application_default_credentials.json"
        file.write_text(json.dumps(credentials))
        told = {"HTTPS_PROXY": self.url, "NO_PROXY": "127.0.0.1", "REQUESTS_CA_BUNDLE": str(self._ca)}
        place = {"CLOUDSDK_CONFIG": str(self.folder)} if as_gcloud else {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
        return told | place

    def service_account_key(self, email: str = ACCOUNT) -> dict[str, str]:
        """A key file."""
        return {
            "type": "service_account",
            "project_id": "my-hub-project",
            "private_key_id": self.key.id,
            "private_key": self.key.private_pem(),
            "client_email": email,
            "token_uri": f"{self.url}/token",
        }

    def impersonating(self) -> dict[str, Any]:
        """Return what `gcloud auth application-default login --impersonate-service-account` leaves, for an account's key."""
        return {
            "type": "impersonated_service_account",
            "service_account_impersonation_url": f"https://{HOST}/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken",
            "source_credentials": self.service_account_key("developer@my-hub-project.iam.gserviceaccount.com"),
        }

    def federated(self) -> dict[str, Any]:
        """A workload identity configuration whose own token stands in a file."""
        (self.folder / "own-token").write_text("token-of-the-other-cloud")
        return {
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": f"{self.url}/sts",
            "service_account_impersonation_url": f"https://{HOST}/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken",
            "credential_source": {"file": str(self.folder / "own-token")},
        }

    def signed(self, audience: str) -> str:
        """An ID token of the account."""
        return self.key.signed(
            id_token_claims(audience=audience, email=ACCOUNT, now=time.time(), lifetime_seconds=self._lifetime_seconds)
        )

    def answer(self, path: str, authorization: str, body: bytes) -> dict[str, Any]:
        """Return what is given out."""
        self.asked.append((path.rpartition("/")[2], authorization))
        match path.rpartition("/")[2]:
            case "token":
                wanted = claims_of(parse_qs(body.decode())["assertion"][0])
                if "target_audience" in wanted:
                    return {"id_token": self.signed(str(wanted["target_audience"]))}
                return {
                    "access_token": f"access-of-{wanted['iss']}",
                    "expires_in": 3600,
                    "token_type": "Bearer",
                }
            case "sts":
                kind = "urn:ietf:params:oauth:token-type:access_token"
                return {
                    "access_token": "federated",
                    "expires_in": 3600,
                    "token_type": "Bearer",
                    "issued_token_type": kind,
                }
            case name if name.endswith(":generateIdToken"):
                return {"token": self.signed(json.loads(body)["audience"])}
            case _:
                expires = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
                return {
                    "accessToken": f"access-of-{ACCOUNT}",
                    "expireTime": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
                }

    def tunnel(self, handler: BaseHTTPRequestHandler) -> None:
        """From now on the connection speaks TLS, as the host that it was opened to."""
        handler.connection = self._context.wrap_socket(handler.connection, server_side=True)
        handler.rfile = handler.connection.makefile("rb")
        handler.wfile = handler.connection.makefile("wb", buffering=0)


def _handler(issuers: TokenIssuers) -> type[BaseHTTPRequestHandler]:
    class OneConnection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            self.send_response(200)
            self.end_headers()
            issuers.tunnel(self)
            # A client may ask for the tunnel in HTTP/1.0.
            self.close_connection = False

        def do_GET(self) -> None:
            # google.auth.default asks for the project's name, and goes on without it.
            self.send_response(403)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if issuers.gone:
                self.close_connection = True
                return
            told = json.dumps(issuers.answer(self.path, self.headers.get("authorization", ""), body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return OneConnection


def _tls(ca: Path, key_file: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    names = [
        x509.DNSName(HOST),
        x509.DNSName("cloudresourcemanager.googleapis.com"),
        x509.DNSName("oauth2.googleapis.com"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - datetime.timedelta(days=1),
        not_valid_after=now + datetime.timedelta(days=1),
    ).add_extension(x509.SubjectAlternativeName(names), critical=False)
    ca.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key_file.write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key_file)
    return context
