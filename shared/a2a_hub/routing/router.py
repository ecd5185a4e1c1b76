"""Chooses the route of a text by rules, never by a model: same text, same table, same route."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import chain

from msgspec import Struct

from a2a_hub.routing.matching import Clues, MatcherIndex, keywords_of, patterns_of
from a2a_hub.routing.patterns import compile_any
from a2a_hub.routing.routes import Route, RouteTable
from a2a_hub.text.follow_up import is_follow_up
from a2a_hub.text.normalization import ends_of, normalise, without_quoted_mail, without_signature

# Of a longer text, such as one with a pasted document, the ends are read.
_MAX_CHARACTERS = 100_000


class Rule(StrEnum):
    """The reasons for a choice; in this order, the first that applies wins."""

    SKILL = "skill"
    WAITING = "waiting"
    NAMED = "named"
    KEYWORD = "keyword"
    PATTERN = "pattern"
    FOLLOW_UP = "follow-up"
    EXTENSION = "extension"
    STICKY = "sticky"
    DEFAULT = "default"


class Choice(Struct, frozen=True, kw_only=True):
    """A route, the rule that chose it, the words that matched, and both as an English sentence."""

    route: Route
    rule: Rule
    words: tuple[str, ...]
    reason: str

    @property
    def reason_without_text(self) -> str:
        """The reason for a log without texts: a keyword comes from the table, but the match of a pattern is the caller's text."""
        of_caller = self.rule in (Rule.NAMED, Rule.PATTERN)
        return f'{self.rule}: one of "{self.route.id}"' if of_caller else self.reason

    def reaches(self, route_id: str) -> bool:
        """Return True if the agent of this route is asked, at once or after that of the default has declined."""
        return route_id == self.route.id or (self.rule is Rule.DEFAULT and route_id in self.route.fallbacks)


class Router:
    """The router of one route table. Immutable, and so thread-safe."""

    def __init__(self, table: RouteTable) -> None:
        self._table = table
        ordered = sorted(table.routes, key=lambda route: -route.priority)
        named = [each for route in ordered for each in keywords_of(route, route.names)]
        named_by = [each for route in ordered for each in patterns_of(route, route.named_by, table.literals)]
        keywords = [each for route in ordered for each in keywords_of(route, route.keywords)]
        patterns = [each for route in ordered for each in patterns_of(route, route.patterns, table.literals)]
        # Patterns are looked for only where no keyword decides: they cost most in a large table.
        self._rules = (
            MatcherIndex([(Rule.NAMED, named), (Rule.NAMED, named_by), (Rule.KEYWORD, keywords)]),
            MatcherIndex([(Rule.PATTERN, patterns)]),
        )

    def choose(
        self, text: str, *, skill: str | None = None, last_route: str | None = None, extension_route: str | None = None
    ) -> Choice:
        """Choose the route of `text`: by skill, else by rules, else that of the extension that the request activates, else the
        last route if it is sticky, else the default.

        The text itself goes before its quotations; its signature is ignored. `skill`, `last_route` and `extension_route`
        are route ids; a last route that the table no longer has is ignored.
        """
        if skill is not None:
            reason = f'skill: the caller asked for "{skill}"'
            return Choice(route=self._table.by_id[skill], rule=Rule.SKILL, words=(skill,), reason=reason)
        text = ends_of(text, max_characters=_MAX_CHARACTERS)
        own = without_quoted_mail(text)
        choice = self._ruled(normalise(own))
        if choice is None and (quoting := without_signature(text)) != own:
            choice = self._ruled(normalise(quoting))
        return choice or self._unruled(own, last_route, extension_route)

    def passed_over(self, text: str) -> dict[str, str]:
        """Return the reasons why other routes with matching rules were not chosen, by their ids; the nearest first."""
        text = ends_of(text, max_characters=_MAX_CHARACTERS)
        own, chosen = normalise(without_quoted_mail(text)), self.choose(text).route.id
        reasons: dict[str, str] = {}
        for rule, route, words in self._matches(own):
            if route.id != chosen:
                why = "its unless takes it out" if _excepted(route, own) else f"priority {route.priority}"
                reasons.setdefault(route.id, f"{_matched(route, rule, words).reason} ({why})")
        return reasons

    def _ruled(self, text: str) -> Choice | None:
        for rule, route, words in self._matches(text):
            if rule is Rule.NAMED or not _excepted(route, text):
                return _matched(route, rule, words)
        return None

    def _matches(self, text: str) -> Iterator[tuple[Rule, Route, tuple[str, ...]]]:
        """Yield the routes with matching rules, best first: all that the text names, then all by keywords, then by patterns."""
        clues: Clues = {}
        return chain.from_iterable(rules.matches(text, clues) for rules in self._rules)

    def _unruled(self, text: str, last_route: str | None, extension_route: str | None) -> Choice:
        last = self._table.by_id.get(last_route) if last_route is not None else None
        if last is not None and last.follow_ups and is_follow_up(text):
            reason = f'follow-up: it takes up the question before, which went to "{last.id}"'
            return Choice(route=last, rule=Rule.FOLLOW_UP, words=(), reason=reason)
        if extension_route is not None:
            route = self._table.by_id[extension_route]
            reason = f'extension: no rule matched, and the request activates an extension of "{route.id}"'
            return Choice(route=route, rule=Rule.EXTENSION, words=(), reason=reason)
        if last is not None and last.sticky:
            reason = f'sticky: no rule matched, and this conversation was last with "{last.id}"'
            return Choice(route=last, rule=Rule.STICKY, words=(), reason=reason)
        default = self._table.default
        return Choice(
            route=default,
            rule=Rule.DEFAULT,
            words=(),
            reason=f'default: no rule matched, so "{default.id}" answers',
        )


def _excepted(route: Route, text: str) -> bool:
    return bool(route.unless) and any(pattern.search(text) for pattern in compile_any(route.unless))


def _matched(route: Route, rule: Rule, words: tuple[str, ...]) -> Choice:
    quoted = ", ".join(f'"{word}"' for word in words)
    return Choice(route=route, rule=rule, words=words, reason=f'{rule}: {quoted} belongs to "{route.id}"')
