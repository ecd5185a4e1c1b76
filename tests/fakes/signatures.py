"""The keys of gate, hub and tasks in tests, and the headers that they sign."""

import time

from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.public_keys import public_keys
from a2a_hub.identity.signed_principal import PrincipalSigner, PrincipalVerifier
from local.settings import key_settings, new_keys

KEYS = new_keys()
GATE_SETTINGS = key_settings("gate", trusts=(), keys=KEYS)
HUB_SETTINGS = key_settings("hub", trusts=("gate", "tasks"), keys=KEYS)
TASKS_SETTINGS = key_settings("tasks", trusts=("hub",), keys=KEYS)


def signed(
    principal: Principal, method: str, path: str, body: bytes = b"", *, function: str = "gate", audience: str = "hub"
) -> dict[str, str]:
    """The header with which a function says on whose behalf it calls."""
    signer = PrincipalSigner(KEYS[function].private, now=time.time, audience=audience)
    return {PRINCIPAL_HEADER: signer.sign(principal, method=method, path=path, body=body)}


def verifier(audience: str = "hub") -> PrincipalVerifier:
    """What a function believes that knows the keys of all."""
    keys = {name: public_keys(pair.public) for name, pair in KEYS.items()}
    return PrincipalVerifier(keys, now=time.time, audience=audience)
