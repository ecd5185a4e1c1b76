"""ES256 against the example of RFC 7515 (appendix A.3), and what its header must not say."""

import pytest

from a2a_hub.identity import es256
from a2a_hub.identity.public_keys import PublicKey, base64url, base64url_decoded, public_keys
from local.settings import key_pair

RFC_KEY = PublicKey("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
RFC_SIGNED = (
    "eyJhbGciOiJFUzI1NiJ9."
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
)
RFC_SIGNATURE = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"


def test_the_signature_of_the_rfc_verifies_and_no_other_text_or_signature_does() -> None:
    key = es256.verifying_key(RFC_KEY)
    assert es256.verifies(key, RFC_SIGNED, RFC_SIGNATURE)
    assert not es256.verifies(key, RFC_SIGNED + "A", RFC_SIGNATURE)
    assert not es256.verifies(key, RFC_SIGNED, "E" + RFC_SIGNATURE[1:])
    assert not es256.verifies(key, RFC_SIGNED, base64url(base64url_decoded(RFC_SIGNATURE) + b"\0"))
    assert not es256.verifies(key, RFC_SIGNED, base64url(bytes(64)))


def test_what_a_key_signs_its_public_half_verifies_and_the_header_names_the_key() -> None:
    pair = key_pair()
    private = es256.private_key(pair.private)
    half = es256.public_half(private)
    assert (half,) == public_keys(pair.public)
    signed, _, signature = es256.compact(private, {"kid": half.id}, b"payload").rpartition(".")
    protected, payload = signed.split(".")
    assert (es256.key_id(protected), base64url_decoded(payload)) == (half.id, b"payload")
    assert es256.verifies(es256.verifying_key(half), signed, signature)
    assert not es256.verifies(es256.verifying_key(RFC_KEY), signed, signature)


@pytest.mark.parametrize(
    "header",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"alg":"none"}',
        b'{"alg":"es256"}',
        b'{"alg":"HS256"}',
        b'{"alg":"ES256","crit":["b64"]}',
    ],
)
def test_a_header_of_another_algorithm_or_with_a_critical_extension_is_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        es256.key_id(base64url(header))


def test_a_point_that_is_not_on_the_curve_is_no_key() -> None:
    with pytest.raises(ValueError, match="curve"):
        es256.verifying_key(PublicKey(base64url(b"\1" * 32), base64url(b"\2" * 32)))
