"""`iam`: a Google ID token of the hub's service account, for Cloud Run's IAM in front of the agent."""

from typing import ClassVar, Self
from urllib.parse import urlsplit

from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.boundary import Credential, Destination, Examination, OwnTokenBoundary
from a2a_hub.diagnosis.gcloud import service_of
from a2a_hub.diagnosis.report import Step, error, id_token_step, ok
from a2a_hub.identity.service_tokens import IdTokenClaims, ServiceTokens, id_token_claims
from a2a_hub.toml.checked_table import CheckedTable


class Iam(OwnTokenBoundary, frozen=True, kw_only=True):
    """An ID token of the hub's service account."""

    kind: ClassVar[str] = "iam"

    audience: str | None = None
    """The audience of the ID token; None stands for the origin of the agent's URL."""

    @classmethod
    def read(cls, table: CheckedTable) -> Self:
        return cls(audience=table.expanded("audience", "") or None)

    def audience_of(self, agent: Destination) -> str:
        """Return the audience of the agent's token."""
        parts = urlsplit(agent.url)
        return self.audience or f"{parts.scheme}://{parts.netloc}"

    def token(self, agent: Destination, tokens: ServiceTokens) -> str:
        return tokens.id_token(self.audience_of(agent))

    def description(self, agent: Destination) -> str:
        return f"an ID token for {self.audience_of(agent)}"

    def account(self, credential: Credential) -> str | None:
        facts = _facts(credential)
        return facts.email if facts else None

    def remedy(self, fault: ClientFault, agent: Destination, credential: Credential) -> str | None:
        service = service_of(agent.url, name=agent.id)
        if fault is ClientFault.RATE_LIMITED:
            return f"where the agent has no instance left: {service.more_instances()}"
        if fault is ClientFault.FORBIDDEN:
            account = self.account(credential) or "HUB_SERVICE_ACCOUNT"
            return service.add_invoker(f"serviceAccount:{account}")
        audience = self.audience_of(agent)
        return (
            f"the ID token's audience was {audience}: set the route's audience to what the agent expects, or make it "
            f"take this one: {service.add_audience(audience)}"
        )

    def credential_step(self, examination: Examination) -> Step:
        facts, hub = _facts(examination.credential), examination.hub
        if facts is None:
            return super().credential_step(examination)
        return id_token_step(facts, examination.now, holder="hub", service=hub)

    def refusal_step(self, status: int, examination: Examination) -> Step:
        if status != 401:
            return super().refusal_step(status, examination)
        agent, facts = examination.agent, _facts(examination.credential)
        if facts is not None and facts.seconds_left(examination.now) <= 0:
            return error("iam", "HTTP 401: the ID token has expired", fix="see the credential, above")
        audience, by_default = self.audience_of(agent), Iam()
        message = f"HTTP 401: the agent takes no ID token for the audience {audience}"
        if by_default.audience_of(agent) != audience and examination.admits(by_default):
            return error(
                "iam",
                f"{message}, but one for {by_default.audience_of(agent)}",
                fix=f"delete `audience` of route {agent.id} in routes.toml",
            )
        return error(
            "iam",
            message,
            fix="make it take this audience, or set the route's audience to the one that it takes",
            command=service_of(agent.url, name=agent.id).add_audience(audience),
        )

    def admission_step(self, examination: Examination) -> Step | None:
        if _facts(examination.credential) is None:
            return None
        return ok("iam", "Cloud Run, or another proxy in front of the agent, lets the hub in")


def _facts(credential: Credential) -> IdTokenClaims | None:
    return id_token_claims(credential.headers.get("authorization", ""))
