"""The functions that are deployed, and who may invoke each (design §1): the one table that grants are made from."""

from dataclasses import dataclass
from enum import StrEnum


class Invoker(StrEnum):
    """Who may hold roles/run.invoker on a function."""

    EVERYBODY = "everybody"
    GATEWAY = "gateway"
    GATE = "gate"
    HUB = "hub"
    GEMINI_ENTERPRISE = "gemini_enterprise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function; its name is its folder and its entry point. `direct_invoker` is for a deployment without a gateway."""

    name: str
    invoker: Invoker
    direct_invoker: Invoker | None
    """None: this function is not deployed where there is no gateway."""
    is_agent: bool = False
    """Whether it may be in a project, an account or a region of its own, or be somebody else's."""
    reads_identity: bool = False
    """Whether it checks who calls, where there is a gateway; without one, the hub does."""
    concurrency: int = 80
    """How many requests one instance takes at once, unless the settings say otherwise."""


# In the order of deployment: whoever is called is there before whoever calls.
FUNCTIONS = (
    Function(name="docqa", invoker=Invoker.HUB, direct_invoker=Invoker.HUB, is_agent=True),
    Function(name="general", invoker=Invoker.HUB, direct_invoker=Invoker.HUB, is_agent=True),
    Function(name="expense", invoker=Invoker.EVERYBODY, direct_invoker=Invoker.EVERYBODY, is_agent=True),
    Function(name="pm", invoker=Invoker.HUB, direct_invoker=Invoker.HUB, is_agent=True),
    Function(name="agent_card", invoker=Invoker.GATEWAY, direct_invoker=None),
    Function(name="hub", invoker=Invoker.GATE, direct_invoker=Invoker.GEMINI_ENTERPRISE),
    Function(name="gate", invoker=Invoker.GATEWAY, direct_invoker=None, reads_identity=True),
)
BY_NAME = {function.name: function for function in FUNCTIONS}
