"""Who may use a route: by the rules of the route table, and the limits of the caller's own credential."""

from __future__ import annotations

from a2a_hub.identity.principal import Principal
from a2a_hub.routing.routes import Route


def restricted(route: Route) -> bool:
    """Only some may use the route."""
    return bool(route.allow_domains or route.allow_emails or route.allow_clients)


def may_use(route: Route, principal: Principal | None) -> bool:
    """Whether the caller may use the route; None is an anonymous caller, who may use what everybody may."""
    if principal is None:
        return not restricted(route)
    if principal.routes is not None and route.id not in principal.routes:
        return False
    if not restricted(route):
        return True
    return (
        principal.hosted_domain in route.allow_domains
        or principal.email in route.allow_emails
        or principal.client in route.allow_clients
    )
