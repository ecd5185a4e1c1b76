"""Private keys as settings: ECDSA on P-256, in PEM."""

from pathlib import Path

from a2a_hub.settings.reader import Settings


def read(settings: Settings, name: str) -> str:
    """Return the key in a setting, or in the file that it names, as PEM; "" if it is unset."""
    expected = "must be a P-256 private key in PEM without a passphrase, or a file that holds one"
    return settings.parsed(name, _pem, expected=expected) or ""


def check(pem: str) -> None:
    """Raise ValueError unless it is an unencrypted P-256 key."""
    # A function without a key starts sooner without this.
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError as error:
        raise ValueError("it has a passphrase") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise ValueError("not a P-256 key")


def _pem(value: str) -> str:
    pem = value if value.startswith("-----BEGIN") else Path(value).read_text()
    check(pem)
    return pem
