"""The audit log of an operator's own changes."""

import getpass
from collections.abc import Mapping

from a2a_hub.identity.principal import Principal
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry.start import start_audit_log
from hubctl.main import CommandError


def audited(environment: Mapping[str, str]) -> Principal:
    """Return the operator, by the name on this machine; what they change is appended to the file AUDIT_LOG, if it is set.

    Called before the change, which a log that cannot be written prevents. Raises CommandError.
    """
    place = environment.get("AUDIT_LOG")
    if place == "stdout":
        raise CommandError("AUDIT_LOG is stdout, which has the answer of this command: name a file")
    try:
        if place:
            start_audit_log("hubctl", place)
    except SettingsError as problem:
        raise CommandError(str(problem)) from None
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "unknown"
    return Principal(subject=f"operator:{name}")
