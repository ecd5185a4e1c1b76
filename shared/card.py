"""The hub's agent card, made from the route table: one skill for each route (design §2)."""

from __future__ import annotations

from shared.a2a.card import (
    AgentCapabilities,
    AgentCard,
    AgentProvider,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from shared.agent_function import OUTPUT_MODES, interfaces
from shared.routes import Route, RouteTable

_SCHEME = "bearer"


def hub_card(table: RouteTable, *, public_url: str, anonymous: bool) -> AgentCard:
    """The card of the hub at `public_url`. Unless callers are anonymous, it declares bearer authentication (seed 000 rule 4)."""
    profile = table.hub
    provider = None
    if profile.provider_organization and profile.provider_url:
        provider = AgentProvider(organization=profile.provider_organization, url=profile.provider_url)
    schemes = {_SCHEME: SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))}
    requirement = SecurityRequirement(schemes={_SCHEME: StringList()})
    return AgentCard(
        name=profile.name,
        description=_both(profile.description, profile.description_ja),
        version=profile.version,
        supported_interfaces=interfaces(public_url),
        provider=provider,
        documentation_url=profile.documentation_url,
        icon_url=profile.icon_url,
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=tuple(
            dict.fromkeys(mode for route in table.routes for mode in route.input_modes)
        ),
        default_output_modes=OUTPUT_MODES,
        skills=tuple(_skill(route) for route in table.routes),
        security_schemes=None if anonymous else schemes,
        security_requirements=() if anonymous else (requirement,),
    )


def _skill(route: Route) -> AgentSkill:
    return AgentSkill(
        id=route.id,
        name=_both(route.name, route.name_ja),
        description=_both(route.description, route.description_ja),
        tags=route.tags,
        examples=route.examples,
        input_modes=route.input_modes,
    )


def _both(english: str, japanese: str) -> str:
    return english if japanese == english else f"{english} / {japanese}"
