"""The gcloud commands that fix the connection of two services, and the Cloud Run service behind an address."""

import re
from urllib.parse import urlsplit

from msgspec import Struct

EVERYBODY = "allUsers"
# https://SERVICE-PROJECT_NUMBER.REGION.run.app, the older https://SERVICE-HASH-xx.a.run.app, and Cloud Functions' own.
_RUN = r"(?P<name>[a-z][a-z0-9-]*)-(?P<project>\d{6,})\.(?P<region>[a-z]+-[a-z]+\d+)\.run\.app"
_OLDER_RUN = r"(?P<name>[a-z][a-z0-9-]*)-[a-z0-9]{10}-[a-z]{2}\.a\.run\.app"
_FUNCTIONS = r"(?P<region>[a-z]+-[a-z]+\d+)-(?P<project>[a-z0-9-]+)\.cloudfunctions\.net"


class Service(Struct, frozen=True, kw_only=True):
    """A Cloud Run service; without a region or project, gcloud takes its own configuration's."""

    name: str
    region: str | None = None
    project: str | None = None

    def add_invoker(self, member: str) -> str:
        """Let `member` ("serviceAccount:…", or everybody) invoke it."""
        return self._command("add-iam-policy-binding", f"--member={member} --role=roles/run.invoker")

    def add_audience(self, audience: str) -> str:
        """Make it accept ID tokens for `audience` as well."""
        return self._command("update", f"--add-custom-audiences={audience}")

    def more_instances(self) -> str:
        """Let it grow to Cloud Run's usual 100 instances."""
        return self._command("update", "--max-instances=100")

    def keep_instance(self) -> str:
        """Keep one instance warm."""
        return self._command("update", "--min-instances=1")

    def set_variable(self, name: str, value: str) -> str:
        """Set one of its environment variables."""
        return self._command("update", f"--update-env-vars={name}={value}")

    def restart(self) -> str:
        """Start new instances, which fetch new tokens."""
        return self._command("update", "--update-env-vars=RESTARTED=$(date +%s)")

    def describe(self) -> str:
        """Show its address."""
        return self._command("describe", "--format='value(status.url)'")

    def logs(self) -> str:
        """Show its log."""
        return self._command("logs read", "--limit=20")

    def _command(self, verb: str, options: str) -> str:
        place = "".join(
            f" --{name}={value}" for name, value in (("region", self.region), ("project", self.project)) if value
        )
        return f"gcloud run services {verb} {self.name}{place} {options}"


def more_quota(api: str, project: str, *, of: str) -> str:
    """Request more requests a minute of an API with a quota for each kind of request: `of` is the start of the quota's id.
    The command itself looks up the rest of the id.
    """
    place = f"--service={api} --project={project}"
    wanted = f"--filter='quotaId~^{of}.*PerMinutePerProject' --format='value(quotaId)'"
    ids = f"gcloud beta quotas info list {place} {wanted}"
    return f"gcloud beta quotas preferences create {place} --preferred-value=1000 --quota-id=$({ids} | head -n 1)"


def is_command(text: str) -> bool:
    """Return True if a remedy is a whole command, and no sentence."""
    return text.startswith(("gcloud ", "hubctl ")) and " (" not in text and ", then " not in text


def service_of(url: str, *, name: str) -> Service:
    """Return the service behind `url`; `name` if the address does not say."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if found := re.fullmatch(_RUN, host) or re.fullmatch(_OLDER_RUN, host):
        return Service(**found.groupdict())
    if found := re.fullmatch(_FUNCTIONS, host):
        return Service(name=parts.path.strip("/").partition("/")[0] or name, **found.groupdict())
    return Service(name=name)
