"""Tests are divided among processes so that nothing expensive is made twice."""

import pytest

from tests.sharing import together


@pytest.mark.parametrize(
    ("file", "scope"),
    [
        ("tests/e2e/test_cards.py", "tests/e2e"),
        ("tests/contract/task_store/test_firestore.py", "tests/contract/task_store"),
        ("tests/integration/gate/test_gate.py", "tests/integration/gate"),
        ("tests/integration/test_doctor.py", "tests/integration/test_doctor.py"),
        ("tests/contract/a2a/test_flask.py", "tests/contract/a2a/test_flask.py"),
        ("tests/deploy/test_life.py", "tests/deploy/test_life.py"),
        ("tests/unit/test_router.py", "tests/unit/test_router.py"),
    ],
)
def test_a_file_goes_with_those_for_which_a_folder_makes_something_and_else_alone(file: str, scope: str) -> None:
    assert together(file) == scope
