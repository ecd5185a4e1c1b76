"""The worker's own texts, in English and Japanese."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from workers.workspace.failures import Cause, ModelCause

_JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


class Language(StrEnum):
    """The language of a task."""

    EN = "en"
    JA = "ja"


@dataclass(frozen=True, kw_only=True)
class Texts:
    """The texts of one language, a table of texts.toml."""

    asks: Mapping[str, str]
    labels: Mapping[str, str]
    done: Mapping[str, str]
    drafted: str
    event_created: str
    document_created: str
    mail_ready: str
    sending: str
    draft_missing: str
    not_allowed: str
    google: Mapping[Cause, str]
    model: Mapping[ModelCause, str]
    rest_not_done: str
    result_unknown: str
    too_long: str


@cache
def texts_in(language: Language) -> Texts:
    """Return the texts of a language."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return Texts(**tables[language])


def language_of(text: str) -> Language:
    """Return Japanese for a text with Japanese characters, else English."""
    return Language.JA if _JAPANESE.search(text) else Language.EN
