"""The `memory` extension: what an agent has to know of its last turns is kept by its caller, so that any instance can go on.

An answer ends with a data part `{URI: …}`, JSON of the agent's own; the caller returns it under the same name in the metadata of
its next message of that conversation, to this agent alone.
"""

from typing import Any, TypeGuard

from a2a_hub.a2a.card import AgentExtension

URI = "urn:a2a-hub:extension:memory/v1"
EXTENSION = AgentExtension(uri=URI, description="The caller keeps what the agent remembers of a conversation.")
MAX_BYTES = 8_000
"""A larger memory is not kept."""


def is_memory(data: object) -> TypeGuard[dict[str, Any]]:
    """Return True for the data of a part that is for the agent's caller to keep, and for nobody to see."""
    return isinstance(data, dict) and URI in data
