"""Private keys as settings: ECDSA on P-256, in PEM."""

from pathlib import Path

from a2a_hub.settings.reader import Settings


def read(settings: Settings, name: str) -> str:
    """Return the key in a setting, or in the file that it names, as PEM; "" if it is unset."""
    expected = "must be a P-256 private key in PEM without a passphrase, or a file that holds one"
    return settings.parsed(name, _pem, expected=expected) or ""


def _pem(value: str) -> str:
    pem = value if value.startswith("-----BEGIN") else Path(value).read_text()
    # A function without a key starts sooner without this.
    from a2a_hub.identity import es256

    es256.private_key(pem)
    return pem
