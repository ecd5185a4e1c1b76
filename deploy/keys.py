"""`hubctl keys rotate`: a new key in Secret Manager for who signs, with the old public key accepted until the new one is live."""

import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from deploy.config import ConfigError, FunctionConfig
from deploy.gcloud import Gcloud
from deploy.plan import Plan

CARD = "card"
_PUBLIC = re.compile(r"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----\n?", re.DOTALL)
_SECONDS = 30


class _Key(NamedTuple):
    private: str
    public: str
    signers: Sequence[FunctionConfig]
    readers: Sequence[FunctionConfig]


def rotate(plan: Plan, gcloud: Gcloud, name: str, *, retire: bool) -> None:
    """Rotate the key `name`: publish the new one beside the old, then sign with it, then retire the old one. That of cards is
    retired by another call, with `retire`, since clients keep cards for a while. Raises ConfigError at the first failure, after
    which the old key still works.
    """
    key, home = _key(plan, name), plan.config.place

    def run(*words: str, stdin: str = "", function: FunctionConfig | None = None) -> str:
        answer = gcloud(*words, place=function.place if function else home, stdin=stdin)
        if not answer.ok:
            raise ConfigError(
                f"gcloud {' '.join(words[:4])}: {answer.message}\nRun the same command again once it is fixed."
            )
        return answer.text + "\n"

    def add(secret: str, value: str, restarted: Sequence[FunctionConfig]) -> None:
        run("secrets", "versions", "add", secret, "--data-file=-", stdin=value)
        for each in restarted:
            service, label = plan.service(each.function.name), f"--update-labels=keys={datetime.now(UTC):%Y%m%d-%H%M%S}"
            run("run", "services", "update", service, label, f"--region={each.place.region}", function=each)

    published = run("secrets", "versions", "access", "latest", f"--secret={key.public}")
    if retire:
        add(key.public, "".join(_PUBLIC.findall(published)[:1]), key.readers)
        return
    private = _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout")
    public = _openssl("ec", "-pubout", stdin=private)
    add(key.public, public + published, key.readers)
    add(key.private, _openssl("pkcs8", "-topk8", "-nocrypt", stdin=private), key.signers)
    if name != CARD:
        add(key.public, public, key.readers)


def _key(plan: Plan, name: str) -> _Key:
    pairs, deployed = plan.key_pairs(), plan.deployed()
    if name == CARD:
        named = [each for each in deployed if "CARD_SIGNING_KEY" in each.secrets and "CARD_PUBLIC_KEYS" in each.secrets]
        if not named:
            raise ConfigError(
                "No function has both CARD_SIGNING_KEY and CARD_PUBLIC_KEYS in its secrets: name one secret for each in "
                "[functions.hub.secrets] and [functions.agent_card.secrets] (docs/settings.md)"
            )
        secrets = named[0].secrets
        return _Key(secrets["CARD_SIGNING_KEY"], secrets["CARD_PUBLIC_KEYS"], named, named)
    if name not in pairs:
        raise ConfigError(f"There is no key {name}: known are {', '.join((*pairs, CARD))}")
    private, public = pairs[name]
    readers = [each for each in deployed if public in plan.secrets_of(each.function).values()]
    return _Key(private, public, [each for each in deployed if each.function.name == name], readers)


def _openssl(*words: str, stdin: str = "") -> str:
    command = ["openssl", *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, timeout=_SECONDS).stdout
