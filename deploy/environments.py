"""The environments of one project: two share no database, and none leaves its tasks behind unnoticed."""

from collections.abc import Mapping, Sequence
from typing import Any

from deploy.config import ConfigError
from deploy.functions import BY_NAME
from deploy.plan import Plan, database_of


def check_store(
    services: Sequence[Mapping[str, Any]], *, plan: Plan, database: str, exists: bool, empty_store: bool
) -> None:
    """Raise ConfigError where one of the project's `services` is of another environment and has this `database`, or where
    tasks would stay in another one; with `empty_store` they may.
    """
    own = {plan.service(name) for name in BY_NAME}
    stores = {service["metadata"]["name"]: database_of(_variables(service)) for service in services}
    stores = {name: store for name, store in stores.items() if store}
    for name in sorted(stores.keys() - own):
        if stores[name] == database:
            raise ConfigError(
                f"The service {name} of another environment keeps its tasks in the database {database}. "
                'Name another one: TASK_STORE = "firestore:NAME", or "firestore" for one with the name_prefix.'
            )
    if exists or empty_store:
        return
    before = {stores[name] for name in own & stores.keys()}
    if before:
        raise ConfigError(
            f"The tasks of this deployment are in the database {' and '.join(sorted(before))}; {database} would begin empty. "
            f'To keep them: TASK_STORE = "firestore:{min(before)}". To begin without them: --empty-store'
        )
    if stores:
        name = min(stores)
        raise ConfigError(
            f"There is no database {database}, but the service {name} has tasks in {stores[name]}. If you changed "
            "name_prefix, they would be left behind: change it back. For an environment of its own: --empty-store"
        )


def _variables(service: Mapping[str, Any]) -> Mapping[str, str]:
    spec = service.get("spec", {}).get("template", {}).get("spec", {})
    return {
        variable["name"]: variable.get("value", "")
        for container in spec.get("containers", ())
        for variable in container.get("env", ())
    }
