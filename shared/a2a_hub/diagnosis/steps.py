"""The steps of an examination whose words stand in a TOML file."""

from pathlib import Path

from a2a_hub.diagnosis.report import Step
from a2a_hub.text.rows import Rows


def steps_of(file: Path) -> Rows[Step]:
    """Return the steps, each by the name of its table, which is also its `check` where it gives none."""
    return Rows(file, Step, key="check")
