"""The quotas of routes, which all callers share, and the callers' own quota of model calls."""

from collections.abc import Callable

from a2a_hub.identity.principal import Principal
from a2a_hub.quota.limits import Quota, QuotaExceeded
from a2a_hub.quota.quotas import DAY_SECONDS, Quotas
from a2a_hub.routing.routes import Route
from functions.hub.failure import DownstreamFailed, limited


def begin_turn(quotas: Quotas, route: Route, principal: Principal | None) -> Callable[[], None]:
    """Count a turn, as a running one until the returned function is called. Raises DownstreamFailed for one too many."""
    subject = f"route:{route.id}"
    try:
        if route.model_calls_per_day:
            quotas.count_model_call(principal)
        quotas.count(Quota.MODEL_CALLS, subject, route.model_calls_per_day, seconds=DAY_SECONDS)
        quotas.count(Quota.REQUESTS, subject, route.turns_per_minute)
        return quotas.hold(Quota.TURNS, subject, route.concurrent_turns)
    except QuotaExceeded as exceeded:
        raise DownstreamFailed(limited(route, exceeded.quota, exceeded.seconds)) from None
