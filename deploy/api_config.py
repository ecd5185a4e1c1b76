"""gateway/openapi.yaml with the addresses of this deployment, and its id (API Gateway's configs never change)."""

import hashlib
import re
from collections.abc import Mapping

_DEADLINE = re.compile(r"^( *deadline: *)([0-9.]+)", re.MULTILINE)
_LONGEST_STREAM_SECONDS = 3600.0
_LONGEST_ANSWER_SECONDS = 600.0
_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")


class UnknownAddress(ValueError):
    """The file asks for an address that the deployment does not have."""


def render(text: str, *, addresses: Mapping[str, str], streaming: bool) -> str:
    """`text` with each `${NAME}` replaced, and no deadline that the gateway would refuse. Raises UnknownAddress."""
    unknown = sorted({name for name in _VARIABLE.findall(text) if name not in addresses})
    if unknown:
        known = ", ".join(sorted(addresses))
        raise UnknownAddress(f"gateway/openapi.yaml asks for {', '.join(unknown)}; known: {known}")
    longest = _LONGEST_STREAM_SECONDS if streaming else _LONGEST_ANSWER_SECONDS
    text = _DEADLINE.sub(lambda found: f"{found[1]}{min(float(found[2]), longest)}", text)
    return _VARIABLE.sub(lambda found: addresses[found[1]], text)


def config_id(rendered: str, *, service_account: str) -> str:
    """The id of the config that `rendered` makes: equal for equal contents and the same service account."""
    return "hub-" + hashlib.sha256(f"{service_account}\n{rendered}".encode()).hexdigest()[:16]
