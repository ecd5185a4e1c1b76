"""A server that speaks TLS as one name, on 127.0.0.1."""

import datetime
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


class TlsReceiver:
    """Answers each request with 200; `names` are those that clients asked for, `hosts` what their requests named.

    Its certificate holds from one day to another, counted from today; `configure` says what else TLS is to be like.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        days: tuple[int, int] = (-1, 1),
        configure: Callable[[ssl.SSLContext], object] = lambda _: None,
    ) -> None:
        self.names: list[str] = []
        self.hosts: list[str] = []
        self._certificate = folder / f"{name}.pem"
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(_certificate(name, self._certificate, days))
        self._context.sni_callback = lambda _, asked, __: self.names.append(asked)
        configure(self._context)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def trusting(self) -> ssl.SSLContext:
        """A client's context that believes this server's certificate, for its name."""
        return ssl.create_default_context(cafile=self._certificate)

    def _serve(self) -> None:
        while True:
            try:
                raw, _ = self._socket.accept()
            except OSError:
                return
            with (
                raw,
                suppress(OSError),
                self._context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False) as connection,
            ):
                self._answer(connection)

    def _answer(self, connection: ssl.SSLSocket) -> None:
        try:
            connection.do_handshake()
        except OSError:
            # What is closed while something is unread is reset, and why it was refused may not arrive.
            socket.socket.shutdown(connection, socket.SHUT_WR)
            while socket.socket.recv(connection, 65536):
                pass
            return
        head = connection.recv(65536).decode("latin-1").lower()
        (host,) = (line[6:] for line in head.split("\r\n") if line.startswith("host: "))
        self.hosts.append(host)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")


def _certificate(name: str, file: Path, days: tuple[int, int]) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(
        issuer_name=subject,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now + days[0] * _DAY,
        not_valid_after=now + days[1] * _DAY,
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(pem + private)
    return file
