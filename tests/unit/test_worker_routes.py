"""The sample table of roles: each skill is a role's, and everything else is the coordinator's."""

from pathlib import Path

import pytest

from a2a_hub.routing.parser import load
from a2a_hub.routing.router import Router

_TABLE = load((Path(__file__).parents[2] / "workers/routes.toml").read_text(), variables={})
_ROLES = {
    "software-development": "developer",
    "code-review": "reviewer",
    "architecture": "architect",
    "business-analysis": "ba",
    "product-management": "pm",
    "quality-assurance": "qa",
    "ux-design": "ux",
    "crm": "crm",
    "workspace": "workspace",
    "coordination": "coordinator",
}
_EXAMPLES = [(route.id, example) for route in _TABLE.routes for example in route.examples]


def test_each_skill_is_one_roles() -> None:
    assert {route.id: route.role for route in _TABLE.routes} == _ROLES
    assert _TABLE.default.role == "coordinator"


@pytest.mark.parametrize(("skill", "example"), _EXAMPLES)
def test_each_example_of_a_skill_is_its_own(skill: str, example: str) -> None:
    assert Router(_TABLE).choose(example, skill=None, last_route=None).route.id == skill
