"""Rules on the content of a card: address, modes, capabilities, texts, size (docs/gemini-enterprise.md)."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from hubctl.cards.card import Card, Flaw
from hubctl.connection import parsed, why_not_public

MOST_DESCRIPTION_CHARACTERS = 2000
MOST_BYTES = 64 << 10
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9*][a-z0-9!#$&^_.+*-]*(\s*;.*)?", re.IGNORECASE)
# "text" is meant as text, too; that it is no MIME type is another rule's flaw.
_TEXT_MODES = ("text/plain", "text/*", "*/*", "text")
_BARE_MODES = {
    "text": "text/plain",
    "markdown": "text/markdown",
    "html": "text/html",
    "json": "application/json",
    "data": "application/json",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "image": "image/png",
    "file": "application/octet-stream",
}


def v1(card: Card) -> Iterator[Flaw]:
    """Recommend "0.3.0" over "v1", which is accepted as any text is."""
    if card.text("protocolVersion") == "v1":
        yield Flaw(
            path="$.protocolVersion",
            message='"v1" is accepted, as any text is; it is not the version that is spoken',
            fix='write "0.3.0", unless your Gemini Enterprise wants "v1"',
        )


def empty_texts(card: Card) -> Iterator[Flaw]:
    """Check that the texts for people and the assistant are not empty."""
    own: tuple[str, ...] = ("name", "description", "version", "protocolVersion")
    places = [("$", card.value, own)]
    places += [(path, skill, ("id", "name", "description")) for path, skill in card.skills()]
    for path, value, names in places:
        for name in names:
            if isinstance(value.get(name), str) and not value[name].strip():
                yield Flaw(path=f"{path}.{name}", message=f"{name} is empty", fix="write a text")


def long_descriptions(card: Card) -> Iterator[Flaw]:
    """Check that descriptions are short enough to be shown and to choose an agent by."""
    for path, value in (("$", card.value), *card.skills()):
        text = value.get("description")
        if isinstance(text, str) and len(text) > MOST_DESCRIPTION_CHARACTERS:
            yield Flaw(
                path=f"{path}.description",
                message=f"the description has {len(text)} characters",
                fix=f"say it in {MOST_DESCRIPTION_CHARACTERS} at most: people see its first lines",
            )


def url_scheme(card: Card) -> Iterator[Flaw]:
    """Check that the agent's address is an https URL."""
    url = card.text("url")
    if not url:
        if url == "":
            yield Flaw(path="$.url", message="url is empty", fix="write the hub's https address")
        return
    parts = parsed(url)
    if parts is None:
        yield Flaw(path="$.url", message=f"{url!r} is no absolute URL", fix="write the hub's https address")
    elif parts.scheme != "https":
        yield Flaw(
            path="$.url",
            message=f"Gemini Enterprise calls https with a certificate of a public authority only, not {parts.scheme}",
            fix="write https://, and put the hub behind API Gateway or Cloud Run if it has no certificate",
        )


def url_public(card: Card) -> Iterator[Flaw]:
    """Check that the agent's address can be reached from the internet."""
    parts = parsed(card.text("url") or "")
    if parts is not None and (reason := why_not_public(parts.hostname or "")):
        yield Flaw(
            path="$.url",
            message=f"{parts.hostname} {reason}: Gemini Enterprise cannot reach it",
            fix="write the public address of the deployed hub or its gateway",
        )


def url_plain(card: Card) -> Iterator[Flaw]:
    """Check that the agent's address carries no user, query or fragment."""
    parts = parsed(card.text("url") or "")
    if parts is not None and (parts.username is not None or parts.query or parts.fragment):
        yield Flaw(
            path="$.url",
            message="a user name, query or fragment in the address is seen by everybody who reads the card, and may be dropped",
            fix="leave the scheme, host and path only",
        )


def transport(card: Card) -> Iterator[Flaw]:
    """Check that JSON-RPC is offered at the main address."""
    preferred = card.text("preferredTransport")
    if preferred is not None and preferred != "JSONRPC":
        yield Flaw(
            path="$.preferredTransport",
            message=f"Gemini Enterprise speaks JSON-RPC to url, and the card says that {preferred!r} is spoken there",
            fix='write "JSONRPC", or delete it',
        )


def mime_types(card: Card) -> Iterator[Flaw]:
    """Check that modes are MIME types."""
    for path, mode in card.modes("defaultInputModes", "defaultOutputModes"):
        if not _MIME_TYPE.fullmatch(mode):
            meant = _BARE_MODES.get(mode.strip().lower())
            yield Flaw(
                path=path,
                message=f"{mode!r} is no MIME type",
                fix=f'write "{meant}"' if meant else 'write a MIME type, such as "text/plain"',
            )


def text_modes(card: Card) -> Iterator[Flaw]:
    """Check that text goes in and comes out: people type, and only text is shown."""
    for name, reason in (
        ("defaultInputModes", "what people type is text"),
        ("defaultOutputModes", "only text is shown; an answer of data parts ends as a failure"),
    ):
        modes = card.value.get(name)
        if isinstance(modes, list) and not any(_is_text(mode) for mode in modes):
            yield Flaw(path=f"$.{name}", message=f"text/plain is not among them: {reason}", fix='add "text/plain"')


def streaming(card: Card) -> Iterator[Flaw]:
    """Check that streaming is declared, so that answers arrive as they are made."""
    capabilities = card.value.get("capabilities")
    if isinstance(capabilities, dict) and capabilities.get("streaming") in (None, False):
        yield Flaw(
            path="$.capabilities.streaming",
            message="without it Gemini Enterprise sends message/send and shows nothing until the whole answer is there; "
            "an answer that takes longer than about 60 s is asked for again",
            fix='write "streaming": true if the agent can stream',
        )


def no_skills(card: Card) -> Iterator[Flaw]:
    """Check that there is a skill."""
    if card.value.get("skills") == []:
        yield Flaw(
            path="$.skills",
            message="there are no skills: nothing says what the agent is for",
            fix="add a skill with id, name, description and tags",
        )


def skill_ids(card: Card) -> Iterator[Flaw]:
    """Check that no two skills have the same id."""
    seen: set[str] = set()
    for path, skill in card.skills():
        id_ = skill.get("id")
        if not isinstance(id_, str):
            continue
        if id_ in seen:
            yield Flaw(
                path=f"{path}.id",
                message=f"the id {id_!r} is taken by a skill above",
                fix="give it one of its own",
            )
        seen.add(id_)


def icon(card: Card) -> Iterator[Flaw]:
    """Check that a browser loads the icon on an https page."""
    url = card.text("iconUrl")
    if url is not None and urlsplit(url).scheme != "https":
        yield Flaw(
            path="$.iconUrl",
            message="a page served over https does not load it",
            fix="write an https address of an image, or delete it",
        )


def signatures(card: Card) -> Iterator[Flaw]:
    """Check that a card that was made for registration carries no signature of another one."""
    if card.value.get("signatures"):
        yield Flaw(
            path="$.signatures",
            message="a signature covers every byte of the card as it was signed; one that was made before a change is false",
            fix="delete it: the registration does not need one",
        )


def size(card: Card) -> Iterator[Flaw]:
    """Check that the card is small enough to be a string in a request."""
    if card.size_bytes > MOST_BYTES:
        yield Flaw(
            path="$",
            message=f"the card has {card.size_bytes} bytes",
            fix=f"bring it below {MOST_BYTES}: shorten examples and descriptions",
        )


def _is_text(mode: object) -> bool:
    return isinstance(mode, str) and mode.partition(";")[0].strip().lower() in _TEXT_MODES
