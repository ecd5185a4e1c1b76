"""What a run of the bench is given."""

from dataclasses import dataclass
from pathlib import Path

from bench.load import Generator
from local.parent_watch import ParentWatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`rounds` measurements of `seconds` each for every contestant; logs go to `folder` while they are needed."""

    rounds: int
    seconds: float
    generator: Generator
    folder: Path
    parent_watch: ParentWatch
