"""A value that holds a secret says so and no more."""

from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import Principal


def test_a_callers_own_header_is_not_shown() -> None:
    caller = Caller(principal=Principal(subject="someone"), authorization="Bearer secret")
    assert repr(caller) == str(caller) == "Caller(…)"
    assert caller == Caller(principal=Principal(subject="someone"), authorization="Bearer secret")
