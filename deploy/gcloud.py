"""gcloud, run for a project as the account that deploy.toml names for it."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from deploy.config import ConfigError, Place

_SECONDS = 900
_ABSENT = re.compile(r"not.?found|not be found|does not exist|cannot find", re.IGNORECASE)
_DENIED = re.compile(r"permission|denied", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The output of a command, and its message where it failed."""

    ok: bool
    text: str
    message: str

    @property
    def absent(self) -> bool:
        """True if the command failed because the resource does not exist. A denied permission proves nothing: Google adds "or
        it may not exist" to that.
        """
        return not self.ok and bool(_ABSENT.search(self.message)) and not _DENIED.search(self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gcloud:
    """Commands of one run: `quiet` ones are not shown, and a `dry_run` shows them only."""

    dry_run: bool = False
    quiet: bool = False

    def __call__(self, *words: str, place: Place, stdin: str = "") -> Answer:
        """Run `gcloud WORDS` in the place's project. A dry run answers with nothing. `stdin` is never shown."""
        command = ["gcloud", *words, f"--project={place.project}", *identity_flags(place), "--quiet"]
        if self.dry_run or not self.quiet:
            print(shlex.join(command), file=sys.stdout if self.dry_run else sys.stderr, flush=True)
        if self.dry_run:
            return Answer(True, "", "")
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=_SECONDS)
        return Answer(done.returncode == 0, done.stdout.strip(), done.stderr.strip())

    def text(self, *words: str, place: Place) -> str:
        """Return the output of a read command; "" if the resource does not exist. Raises ConfigError."""
        answer = self(*words, place=place)
        if not (answer.ok or answer.absent):
            raise ConfigError(f"gcloud {' '.join(words[:4])}: {answer.message}")
        return answer.text if answer.ok else ""


def identity_flags(place: Place) -> Iterator[str]:
    """Yield the flags with which gcloud acts for the owner of a project."""
    for flag in ("account", "configuration", "impersonate_service_account"):
        if value := getattr(place, flag):
            yield f"--{flag.replace('_', '-')}={value}"
