"""The failures and remedies that the hub's files name are those that its code asks for."""

import re
from pathlib import Path

from a2a_hub.a2a.client_errors import ClientFault
from functions.hub.downstream.containment import remedies
from functions.hub.failure import FAILURES, FailureKind

_HUB = Path(__file__).parents[2] / "functions" / "hub"
_CODE = "".join(file.read_text("utf-8") for file in _HUB.rglob("*.py"))


def test_the_code_asks_for_the_failures_of_the_file_and_no_others() -> None:
    named = set(re.findall(r'failure_of\("(\w+)"', _CODE))
    assert named | {FailureKind.UNSAFE_REQUEST, FailureKind.UNSAFE_ANSWER} == set(FAILURES.templates)


def test_a_remedy_is_for_a_fault_or_is_named_in_the_code() -> None:
    narrower = set(re.findall(r'return "(\w+)"', _CODE))
    assert set(remedies()) <= {fault.value for fault in ClientFault} | narrower
