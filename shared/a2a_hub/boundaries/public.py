"""`public`: everybody may call the agent, and nothing is sent."""

from typing import ClassVar

from a2a_hub.a2a.card import SecurityScheme
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.boundary import Boundary, Credential, CredentialRequest, Destination, Examination
from a2a_hub.diagnosis.gcloud import EVERYBODY, service_of
from a2a_hub.diagnosis.report import Step, error, ok


class Public(Boundary, frozen=True, kw_only=True):
    """No credential."""

    kind: ClassVar[str] = "public"

    def credential(self, _: CredentialRequest) -> Credential:
        return Credential()

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> str | None:
        service = service_of(agent.url, name=agent.id)
        if fault is ClientFault.RATE_LIMITED:
            return f"where the agent has no instance left: {service.more_instances()}"
        return (
            f'the agent wants a credential: set boundary = "iam" for route {agent.id} in routes.toml, or let everybody '
            f"invoke it: {service.add_invoker(EVERYBODY)}"
        )

    def credential_step(self, _: Examination) -> Step:
        return ok("credential", "none is sent: the agent is public")

    def serves(self, _scheme: SecurityScheme, _scopes: tuple[str, ...]) -> bool:
        return False

    def refusal_step(self, status: int, examination: Examination) -> Step:
        agent = examination.agent
        return error(
            "iam",
            f"HTTP {status}: the agent wants a credential, and its route says that it is public",
            fix='let everybody invoke it, or set boundary = "iam" in routes.toml',
            command=service_of(agent.url, name=agent.id).add_invoker(EVERYBODY),
        )
