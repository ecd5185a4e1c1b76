"""`hubctl keys rotate`: at every moment, those who verify know the key of who signs."""

import io
import json
import stat
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from a2a_hub.identity import private_key
from a2a_hub.identity.public_keys import PublicKey, public_keys
from a2a_hub.telemetry import audit
from deploy.config import ConfigError, Place
from deploy.gcloud import Answer
from deploy.keys import rotate
from hubctl.main import main
from local.settings import key_pair
from tests.deploy.plans import EXAMPLE, plan

CARDS = EXAMPLE + "".join(
    f'\n[functions.{name}.secrets]\nCARD_SIGNING_KEY = "card-key"\nCARD_PUBLIC_KEYS = "card-public"\n'
    for name in ("hub", "agent_card")
)


def half(private: str) -> PublicKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = load_pem_private_key(private.encode(), password=None).public_key()
    return public_keys(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())[0]


@dataclass
class Cloud:
    """Secrets, and the values that each service has read; `refuses` is the service that does not restart."""

    secrets: dict[str, str]
    reads: dict[str, tuple[str, ...]]
    refuses: str = ""
    running: dict[str, dict[str, str]] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for service in self.reads:
            self.restart(service)

    def restart(self, service: str) -> None:
        self.running[service] = {secret: self.secrets[secret] for secret in self.reads[service]}

    def __call__(self, *words: str, place: Place, stdin: str = "") -> Answer:  # noqa: ARG002 - a seam of Gcloud
        self.commands.append(" ".join(words))
        match words:
            case ("secrets", "versions", "access", "latest", secret):
                return Answer(True, self.secrets[secret.removeprefix("--secret=")].strip(), "")
            case ("secrets", "versions", "add", secret, "--data-file=-"):
                self.secrets[secret] = stdin
            case ("run", "services", "update", service, *_):
                if service == self.refuses:
                    return Answer(False, "", "PERMISSION_DENIED")
                self.restart(service)
                self.check()
        return Answer(True, "", "")

    def check(self) -> None:
        """The key with which each running service signs is one that each running verifier knows."""
        signing = [half(value) for of in self.running.values() for name, value in of.items() if "private" in name]
        for of in self.running.values():
            for name, value in of.items():
                assert "public" not in name or set(signing) <= set(public_keys(value))


def gate(*, refuses: str = "") -> Cloud:
    pair = key_pair()
    secrets = {"a2a-gate-private-key": pair.private, "a2a-gate-public-keys": pair.public}
    return Cloud(secrets, {"a2a-gate": ("a2a-gate-private-key",), "a2a-hub": ("a2a-gate-public-keys",)}, refuses)


def test_a_new_key_signs_only_after_those_who_verify_know_it_and_then_it_is_the_only_one() -> None:
    cloud = gate()
    before = public_keys(cloud.secrets["a2a-gate-public-keys"])
    rotate(plan(), cloud, "gate", retire=False)  # type: ignore[arg-type]
    after = public_keys(cloud.running["a2a-hub"]["a2a-gate-public-keys"])
    private_key.check(cloud.secrets["a2a-gate-private-key"])
    assert after == (half(cloud.running["a2a-gate"]["a2a-gate-private-key"]),) != before
    assert not [command for command in cloud.commands if "BEGIN" in command]


@pytest.mark.parametrize("refuses", ["a2a-hub", "a2a-gate"])
def test_where_a_step_fails_the_old_key_still_works_and_a_second_run_ends_it(refuses: str) -> None:
    cloud = gate(refuses=refuses)
    with pytest.raises(ConfigError, match="PERMISSION_DENIED"):
        rotate(plan(), cloud, "gate", retire=False)  # type: ignore[arg-type]
    cloud.check()
    cloud.refuses = ""
    rotate(plan(), cloud, "gate", retire=False)  # type: ignore[arg-type]
    assert len(public_keys(cloud.secrets["a2a-gate-public-keys"])) == 1


def test_the_old_key_of_cards_stays_published_until_it_is_retired() -> None:
    pair = key_pair()
    both = ("card-key", "card-public")
    cloud = Cloud({"card-key": pair.private, "card-public": pair.public}, {"a2a-hub": both, "a2a-agent-card": both})
    rotate(plan(CARDS), cloud, "card", retire=False)  # type: ignore[arg-type]
    for service in ("a2a-hub", "a2a-agent-card"):
        assert public_keys(cloud.running[service]["card-public"]) == (
            half(cloud.running[service]["card-key"]),
            half(pair.private),
        )
    rotate(plan(CARDS), cloud, "card", retire=True)  # type: ignore[arg-type]
    assert public_keys(cloud.running["a2a-hub"]["card-public"]) == (half(cloud.secrets["card-key"]),)
    with pytest.raises(ConfigError, match="name one secret for each"):
        rotate(plan(), cloud, "card", retire=False)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="There is no key nobody: known are"):
        rotate(plan(), cloud, "nobody", retire=False)  # type: ignore[arg-type]


def test_keys_in_files_are_rotated_alike(tmp_path: Path) -> None:
    private, public = tmp_path / "key.pem", tmp_path / "keys.pem"
    private.write_text((pair := key_pair()).private)
    public.write_text(pair.public)
    arguments = ["keys", "rotate", "--file", str(private), "--public", str(public)]
    assert main(arguments, environment={}, out=io.StringIO()) == 0
    assert public_keys(public.read_text()) == (half(private.read_text()), half(pair.private))
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    try:
        audited = {"AUDIT_LOG": str(tmp_path / "audit.log")}
        assert main([*arguments, "--retire"], environment=audited, out=io.StringIO()) == 0
    finally:
        audit.install(None)
    entry = json.loads((tmp_path / "audit.log").read_text())["audit"]
    expected = {"event": "changed", "object": "signing key", "key": str(public), "action": "retire"}
    assert entry.items() >= expected.items()
    assert public_keys(public.read_text()) == (half(private.read_text()),)
    assert main(["keys", "rotate"], environment={}, out=io.StringIO()) == 2
