"""`python -m gateway.check`: what an OpenAPI validator does not know about gateway/openapi.yaml: API Gateway's own rules.

Sources: docs.cloud.google.com/api-gateway/docs: oasv3-extensions, path-templating (stricter since 2026-04),
openapi-v3-limitations.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator

from openapi_spec_validator import OpenAPIV30SpecValidator

from gateway.document import FILE, Backend, Document, Operation, read
from gateway.generate import rendered

_ADDRESS = re.compile(r"https://[^/]+|\$\{[A-Z_]+_URL\}")
_OPERATION_ID = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")
# A segment is a literal or one variable; only the last one may have a custom verb.
_SEGMENT = r"(?:[A-Za-z0-9._~-]+|\{[A-Za-z_][A-Za-z0-9_.-]*\})"
_PATH = re.compile(rf"/|(?:/{_SEGMENT})+(?::[A-Za-z][A-Za-z0-9]*)?")
_PROTOCOLS = ("http/1.1", "h2")
_LONGEST_SECONDS = 3600.0
_LONGEST_PATH_CHARACTERS = 512
# A known name of the vendor elsewhere in the file has no effect, which nobody would notice.
_KNOWN_EXTENSIONS = frozenset({"x-google-api-management", "x-google-backend"})
# What may be reached without the gate: the function that shows the public card and keys, at their well-known paths.
_PUBLIC_BACKEND, _PUBLIC_PATHS = "agent_card", "/.well-known/"


def problems(text: str) -> list[str]:
    """Return the errors in the file, one sentence each; none if API Gateway takes it and nothing is open by mistake."""
    document = read(text)
    found = [f"OpenAPI: {error.message}" for error in OpenAPIV30SpecValidator(document.raw).iter_errors()]
    for backend in document.backends.values():
        found += [f"backend {backend.name} {problem}" for problem in _of_backend(backend)]
    for operation in document.operations:
        found += [f"{operation.place} {problem}" for problem in _of_operation(operation, document)]
    found += _of_document(document)
    return found


def _of_backend(backend: Backend) -> Iterator[str]:
    if backend.address is None or not _ADDRESS.fullmatch(backend.address):
        yield "has no address of the form https://host or ${NAME_URL}"
    if backend.disables_auth:
        yield "has disableAuth: the gateway's own identity would be missing, and IAM would refuse it"
    if backend.jwt_audience != backend.address:
        yield "must name its address as jwtAudience"
    if backend.path_translation != "APPEND_PATH_TO_ADDRESS":
        yield "must say pathTranslation: APPEND_PATH_TO_ADDRESS"
    if backend.protocol not in _PROTOCOLS:
        yield f"must name a protocol: {' or '.join(_PROTOCOLS)}"
    if backend.deadline_seconds is None:
        yield "has no deadline: it would be 15 s, for streams too"
    elif not 0 < backend.deadline_seconds <= _LONGEST_SECONDS:
        yield f"has a deadline that is not within {_LONGEST_SECONDS:.0f} s"


def _of_operation(operation: Operation, document: Document) -> Iterator[str]:
    if operation.id is None or not _OPERATION_ID.fullmatch(operation.id):
        yield "has no operationId of letters, digits and underscores"
    if operation.backend not in document.backends:
        yield "names no backend of x-google-api-management"
    if operation.security:
        yield "has a security requirement: API Gateway would answer 401 to every opaque token"
    if not _PATH.fullmatch(operation.path) or len(operation.path) > _LONGEST_PATH_CHARACTERS:
        yield "has a path template that API Gateway refuses"
    public = operation.path.startswith(_PUBLIC_PATHS)
    if (operation.backend == _PUBLIC_BACKEND) != public:
        yield f"may not lead to {operation.backend}: the card, and nothing else, goes past the gate"
    if public and operation.method not in ("get", "head"):
        yield "may not be public: only reading the card is"


def _of_document(document: Document) -> Iterator[str]:
    counts = Counter(operation.id for operation in document.operations if operation.id)
    for name, count in counts.items():
        if count > 1:
            yield f"operationId {name} is given {count} times"
    used = {operation.backend for operation in document.operations}
    for name in document.backends.keys() - used:
        yield f"backend {name} is used by no operation"
    for name in _extensions(document.raw):
        if name not in _KNOWN_EXTENSIONS:
            yield f"{name} is no extension that this file needs"


def _extensions(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if str(name).startswith("x-google-"):
                yield name
            yield from _extensions(item)
    elif isinstance(value, list):
        for item in value:
            yield from _extensions(item)


def main() -> int:
    """Print every error on a line of its own; return 0 if there are none."""
    text = FILE.read_text(encoding="utf-8")
    found = problems(text)
    if text != rendered():
        found.append("differs from what gateway/generate.py makes of the code: run make reference")
    for problem in found:
        print(f"gateway/{FILE.name}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
