"""Whose address counts: that of an account for which Google is authoritative."""

import pytest

from a2a_hub.identity.principal import Principal, is_operator


@pytest.mark.parametrize(
    ("email", "hosted_domain", "counts"),
    [
        ("hanako@example.com", "example.com", True),
        ("hanako@EXAMPLE.com", "example.com", True),
        ("hanako@example.com", None, False),
        ("hanako@example.com", "example.org", False),
        ("hanako@example.com", "", False),
        ("hanako@sub.example.com", "example.com", False),
        ("taro@gmail.com", None, True),
        ("taro@notgmail.com", None, False),
        ("job@project.iam.gserviceaccount.com", None, True),
        ("1-compute@developer.gserviceaccount.com", None, True),
        ("job@gserviceaccount.com.example.org", None, False),
        ("", "", False),
        ("hanako", "hanako", False),
        (None, "example.com", False),
        (None, None, False),
    ],
)
def test_an_address_counts_if_google_is_authoritative_for_it(
    email: str | None, hosted_domain: str | None, counts: bool
) -> None:
    principal = Principal(subject="google:1", email=email, hosted_domain=hosted_domain)
    assert principal.own_email == (email if counts else None)
    assert is_operator(principal, {email or ""}) == counts


@pytest.mark.parametrize("operator", [True, False])
def test_a_static_client_is_an_operator_only_if_its_row_says_so(operator: bool) -> None:
    principal = Principal(subject="client:ci", client="ci", operator=operator, roles=None)
    assert is_operator(principal, {""}) == operator
