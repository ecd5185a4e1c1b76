"""Access rules of documents: `access.toml` files in the folders of a corpus.

`allow_domains` and `allow_emails` hold for the folder and all below it; a table `[documents."file name"]` with the same keys
holds for one document beside it. Every rule on the way to a document must allow the asker. A file that cannot be read closes its
folder.
"""

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.toml.document import parse
from functions.docqa.model import Skipped

FILE_NAME = "access.toml"
_KEYS = frozenset({"allow_domains", "allow_emails"})


@dataclass(frozen=True, slots=True)
class Asker:
    """The verified identity of the asker; an anonymous one may read unrestricted documents only.

    `token` is the asker's own access token, for a search that runs with it.
    """

    email: str | None = None
    domain: str | None = None
    token: str | None = field(default=None, repr=False)


def asker_of(call: Call) -> Asker:
    """Return the identity of a call, with its bearer token."""
    principal = call.principal
    scheme, _, token = (call.authorization or "").partition(" ")
    return Asker(
        email=principal.own_email if principal else None,
        domain=principal.hosted_domain if principal else None,
        token=token.strip() if scheme.lower() == "bearer" and token.strip() else None,
    )


class Rule(msgspec.Struct, frozen=True, array_like=True):
    """The allowed readers; nobody if both fields are empty."""

    domains: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()

    def allows(self, asker: Asker) -> bool:
        """Return True for an asker whose address or verified domain is named."""
        return (asker.email or "").casefold() in self.emails or (asker.domain or "").casefold() in self.domains


Rules = tuple[Rule, ...]
"""The rules on the way to a document; everybody may read it if there are none."""


def may_read(rules: Rules, asker: Asker) -> bool:
    """Return True if every rule allows the asker."""
    return all(rule.allows(asker) for rule in rules)


def key_of(rules: Rules) -> str:
    """Return a key that is equal for documents with the same readers; "" for unrestricted ones."""
    return hashlib.blake2b(msgspec.json.encode(rules), digest_size=8).hexdigest() if rules else ""


class AccessRules:
    """The rules of one corpus folder, each file read once."""

    def __init__(self, corpus_dir: Path) -> None:
        self._corpus_dir = corpus_dir
        self._folders: dict[Path, tuple[Rules, Mapping[str, Any]]] = {}
        self._problems: dict[tuple[Path, str], str] = {}

    def of(self, path: str, file: Path) -> Rules:
        """Return the rules of a file, and of the one that it is a link to; `path` is its readable path."""
        rules, documents = self._of_folder(file.parent)
        name = _composed(path.rpartition("/")[2])
        own = documents.get(name)
        if own is not None:
            rules = (*rules, _rule(own))
            self._problems.pop((file.parent, name), None)
        target, root = file.resolve(), self._corpus_dir.resolve()
        if not file.is_symlink() or not target.is_relative_to(root):
            return rules
        inner = target.relative_to(root)
        return (*rules, *self.of(inner.as_posix(), self._corpus_dir / inner))

    def problems(self) -> Iterator[Skipped]:
        """Yield the files of rules, of those asked for, that close their folder or name documents that are not there."""
        for (folder, _), reason in self._problems.items():
            yield Skipped((folder / FILE_NAME).relative_to(self._corpus_dir).as_posix(), reason)

    def _of_folder(self, folder: Path) -> tuple[Rules, Mapping[str, Any]]:
        if folder not in self._folders:
            why = ""
            above = () if folder == self._corpus_dir else self._of_folder(folder.parent)[0]
            try:
                table = parse((folder / FILE_NAME).read_text("utf-8-sig"))
            except FileNotFoundError:
                table = {}
            except (OSError, ValueError) as problem:
                table, why = {"documents": None}, f" ({problem.strerror if isinstance(problem, OSError) else problem})"
            named = table.pop("documents", {})
            own = (_rule(table),) if table else ()
            documents = {_composed(name): rule for name, rule in named.items()} if isinstance(named, dict) else {}
            if not isinstance(named, dict) or any("/" in name for name in documents):
                own, documents = (*own, Rule()), {}
            if Rule() in own:
                unknown = ", ".join(sorted(table.keys() - _KEYS))
                why = why or (unknown and f" (unknown: {unknown})")
                self._problems[folder, ""] = (
                    f"is not understood{why}: nobody may read the documents beside and below it"
                )
            for name in documents:
                self._problems[folder, name] = f"names a document that is not beside it: {name}"
            self._folders[folder] = (*above, *own), documents
        return self._folders[folder]


def _composed(name: str) -> str:
    # File systems and editors write "が" as one character or as two, and some do not tell "A" from "a".
    return unicodedata.normalize("NFC", name).casefold()


def _rule(table: object) -> Rule:
    """Return the rule of a table; one that allows nobody if the table is invalid."""
    if not isinstance(table, dict) or table.keys() - _KEYS:
        return Rule()
    lists = [table.get("allow_domains", []), table.get("allow_emails", [])]
    if not all(isinstance(names, list) and all(isinstance(name, str) and name for name in names) for names in lists):
        return Rule()
    domains, emails = (tuple(sorted(name.casefold() for name in names)) for names in lists)
    return Rule(domains, emails)
