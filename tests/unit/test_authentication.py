"""Several kinds of tokens beside one another: each is asked, and only who knows a token decides."""

from dataclasses import dataclass

import pytest

from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.identity.authentication import TokenVerifier, VerifierUnavailable, verify_bearer_token
from a2a_hub.identity.principal import Principal, StaticTokenVerifier, development_clients

KNOWN = StaticTokenVerifier(development_clients(["known"]))


@dataclass(frozen=True)
class UnavailableVerifier:
    """A kind of token of which nobody can say anything now."""

    seconds: int

    def verify(self, _: str) -> Principal | None:
        raise VerifierUnavailable(self.seconds)


@pytest.mark.parametrize("verifiers", [(UnavailableVerifier(5), KNOWN), (KNOWN, UnavailableVerifier(5))])
def test_an_outage_of_one_kind_keeps_nobody_out_whom_another_knows(
    verifiers: tuple[TokenVerifier, ...],
) -> None:
    assert verify_bearer_token("Bearer known", verifiers) == KNOWN.verify("known")


@pytest.mark.parametrize("verifiers", [(UnavailableVerifier(5), KNOWN), (KNOWN, UnavailableVerifier(5))])
def test_who_may_be_known_to_a_kind_that_is_away_is_told_to_come_back(
    verifiers: tuple[TokenVerifier, ...],
) -> None:
    with pytest.raises(A2AError) as refused:
        verify_bearer_token("Bearer unknown", verifiers)
    assert (refused.value.kind, refused.value.headers) == (UNAVAILABLE, {"retry-after": "5"})


@pytest.mark.parametrize("verifiers", [(), (KNOWN,)])
def test_a_token_that_nobody_knows_is_a_401_with_a_challenge(verifiers: tuple[TokenVerifier, ...]) -> None:
    with pytest.raises(A2AError) as refused:
        verify_bearer_token("Bearer unknown", verifiers)
    assert refused.value.kind is UNAUTHENTICATED
    assert refused.value.headers == {"www-authenticate": 'Bearer realm="a2a", error="invalid_token"'}
