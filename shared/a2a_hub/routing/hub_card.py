"""The hub's agent card, made from the route table: one skill for each route."""

from collections.abc import Iterable
from enum import StrEnum

from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.card import (
    OUTPUT_MODES,
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
    AuthorizationCodeOAuthFlow,
    HTTPAuthSecurityScheme,
    OAuth2SecurityScheme,
    OAuthFlows,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    interfaces,
)
from a2a_hub.a2a.model import Version
from a2a_hub.routing.routes import Route, RouteTable

# Without offline access and consent, Gemini Enterprise gets no refresh token and prompts again and again.
GOOGLE_AUTHORIZATION_URL = "https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&prompt=consent"
GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
GOOGLE_SCOPES = {
    "openid": "Who you are",
    "https://www.googleapis.com/auth/userinfo.email": "Your email address",
}


ROUTE_EXTENSION = "urn:a2a-hub:extension:route/v1"
_ROUTES_TOLD = AgentExtension(uri=ROUTE_EXTENSION, description="Tells which agent answers, and why it was asked.")
"""The extension by which a program asks for the reason behind an answer (docs/api.md)."""


class SecurityKind(StrEnum):
    """The ways in which callers authenticate, as the card declares them."""

    GOOGLE = "google"
    BEARER = "bearer"


def hub_card(
    table: RouteTable,
    *,
    public_url: str,
    grpc_url: str | None = None,
    security: Iterable[SecurityKind],
    routes: Iterable[Route],
    extended: bool,
    keeps_tasks: bool,
    tells_routes: bool = False,
) -> AgentCard:
    """Return the card of the hub at `public_url` with the skills of `routes`; `extended` offers each caller a card
    of their own, which `tells_routes`.

    It declares security, so that Gemini Enterprise sends the user's token; any one of `security` is enough.
    """
    profile = table.hub
    kinds = tuple(security)
    shown = tuple(routes)
    provider = None
    if profile.provider_organization and profile.provider_url:
        provider = AgentProvider(organization=profile.provider_organization, url=profile.provider_url)
    return AgentCard(
        name=profile.name,
        description=_both(profile.description, profile.description_ja),
        version=profile.version,
        supported_interfaces=(*interfaces(public_url), *_grpc(grpc_url)),
        provider=provider,
        documentation_url=profile.documentation_url,
        icon_url=profile.icon_url,
        capabilities=AgentCapabilities(
            streaming=True,
            push_notifications=keeps_tasks,
            extensions=_extensions(shown) + ((_ROUTES_TOLD,) if tells_routes else ()),
            extended_agent_card=extended,
        ),
        default_input_modes=tuple(dict.fromkeys(mode for route in table.routes for mode in route.input_modes)),
        default_output_modes=OUTPUT_MODES,
        skills=tuple(_skill(route) for route in shown),
        security_schemes={kind.value: _scheme(kind) for kind in kinds} or None,
        security_requirements=tuple(
            SecurityRequirement(schemes={kind.value: StringList(list=_scopes(kind))}) for kind in kinds
        ),
    )


def _grpc(url: str | None) -> tuple[AgentInterface, ...]:
    """Return the interface of `services/grpc`, last: callers prefer the first one that they speak."""
    return (AgentInterface(url=url, protocol_binding="GRPC", protocol_version=Version.V1_0.value),) if url else ()


def _scheme(kind: SecurityKind) -> SecurityScheme:
    match kind:
        case SecurityKind.BEARER:
            return SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
        case SecurityKind.GOOGLE:
            flow = AuthorizationCodeOAuthFlow(
                authorization_url=GOOGLE_AUTHORIZATION_URL, token_url=GOOGLE_TOKEN_URL, scopes=GOOGLE_SCOPES
            )
            return SecurityScheme(
                oauth2_security_scheme=OAuth2SecurityScheme(flows=OAuthFlows(authorization_code=flow))
            )


def _scopes(kind: SecurityKind) -> tuple[str, ...]:
    return tuple(GOOGLE_SCOPES) if kind is SecurityKind.GOOGLE else ()


def _extensions(routes: Iterable[Route]) -> tuple[AgentExtension, ...]:
    """Return the extensions of agents whose own messages reach the caller, and A2UI of all; others have no effect."""
    agents: dict[str, list[str]] = {}
    for route in routes:
        for uri in route.extensions if route.passes_tasks else a2ui_in(route.extensions):
            agents.setdefault(uri, []).append(route.name)
    return tuple(
        AgentExtension(uri=uri, description=f"Passed on to and from {', '.join(names)}.")
        for uri, names in agents.items()
    )


def _skill(route: Route) -> AgentSkill:
    english, japanese = route.description, route.description_ja
    if route.role:
        has_japanese = japanese != english
        english += f" Delivered by {route.role} workers."
        japanese = f"{japanese}担当：{route.role}。" if has_japanese else english
    return AgentSkill(
        id=route.id,
        name=_both(route.name, route.name_ja),
        description=_both(english, japanese),
        # A required array has an element (A2A 1.0.1 §5.7).
        tags=route.tags or (route.id,),
        examples=route.examples,
        input_modes=route.input_modes,
    )


def _both(english: str, japanese: str) -> str:
    return english if japanese == english else f"{english} / {japanese}"
