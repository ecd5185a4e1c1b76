"""The route table: what it gives, and every mistake it names with its line."""

import re

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.boundaries.kinds import BOUNDARY_KEYS, Iam, Public
from a2a_hub.routing.parser import load, unset_variables
from a2a_hub.routing.routes import BreakerLimits, Route, RouteTableError
from tests.unit.route_tables import DEFAULT, SHIPPED_FILE, route_text, shipped_table

GOOD = route_text("expense", 'keywords = ["expense"]', priority=2)


def problems(text: str, **variables: str) -> list[tuple[int, str]]:
    with pytest.raises(RouteTableError) as caught:
        load(text, variables=variables)
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_the_shipped_table_holds_and_has_the_sample_routes() -> None:
    table = shipped_table()
    assert set(table.by_id) == {"expense", "pm", "docqa", "devtool", "general"}
    assert (table.default.id, table.default.fallbacks) == ("docqa", ("general",))
    assert [table.by_id[name].boundary for name in ("expense", "pm")] == [Public(), Iam()]


def test_every_key_of_a_route_is_explained_at_the_head_of_the_shipped_table() -> None:
    head = SHIPPED_FILE.read_text(encoding="utf-8").partition("[hub]")[0]
    # Every route in the file shows its name and description.
    plain = {"name", "name_ja", "description", "description_ja", "tags"}
    missing = [
        key
        for key in (*Route.__struct_fields__, *BOUNDARY_KEYS)
        if key not in plain and not re.search(rf"\b{key}\b", head)
    ]
    assert missing == []


def test_a_route_that_sets_nothing_else_has_the_documented_defaults() -> None:
    route = load(DEFAULT, variables={}).default
    assert (route.timeout_seconds, route.connect_timeout_seconds, route.stream_idle_timeout_seconds) == (
        30,
        5,
        120,
    )
    assert (route.retries, route.max_response_bytes, route.input_modes) == (
        1,
        4 * 1024 * 1024,
        ("text/plain",),
    )
    assert (route.retry_seconds, route.breaker) == (600, BreakerLimits(failures=5, pause_seconds=30))
    assert (route.protocol_version, route.binding, route.sticky) == (None, None, False)
    assert route.boundary == Public()
    assert (route.follow_ups, route.passes_tasks, route.default) == (False, False, True)
    assert route.extensions == ()
    assert (route.name_ja, route.description_ja) == (route.name, route.description)


def test_routes_keep_the_order_of_the_file() -> None:
    text = route_text("b", 'keywords = ["b"]', priority=1) + route_text("a", 'keywords = ["a"]', priority=2)
    assert [route.id for route in load(text + DEFAULT, variables={}).routes] == ["b", "a", "other"]


def test_variables_fill_addresses_and_the_audience() -> None:
    text = DEFAULT.replace("https://agent.example", "${AGENT_URL}/a2a").replace('"public"', '"iam"')
    text += 'audience = "${AGENT_URL}"\n'
    route = load(text, variables={"AGENT_URL": "https://pm.example"}).default
    assert (route.url, route.boundary) == ("https://pm.example/a2a", Iam(audience="https://pm.example"))


def test_unset_variables_are_those_of_values_and_not_of_comments() -> None:
    text = '# ${COMMENT}\n[[routes]]\nurl = "${B_URL}"\naudience = "${A}"\nicon = "${SET}"\n'
    assert unset_variables(text, {"SET": "x"}) == ("A", "B_URL")


@pytest.mark.parametrize("name", ["SIGNING_KEY", "HUB_DEV_TOKEN", "WEBHOOK_SIGNING_KEYS", "db_password"])
@pytest.mark.parametrize("rest", ["", "not a port"])
def test_a_secret_goes_into_no_address_and_into_no_message(name: str, rest: str) -> None:
    text = DEFAULT.replace("agent.example", f"agent.example:{rest}/${{{name}}}")
    with pytest.raises(RouteTableError) as raised:
        load(text, variables={name: "the-secret"})
    assert "that is the name of a secret" in str(raised.value)
    assert "the-secret" not in str(raised.value)


MISTAKES = {
    "not TOML": ("[[routes]]\nid = expense\n", 2, "this is not TOML"),
    "a list without an end": ('[[routes]]\nkeywords = ["a"\n', 3, "this is not TOML: Unclosed array"),
    "a key twice": ("[[routes]]\npriority = 1\npriority = 2\n", 3, "this is not TOML"),
    "one route in single brackets": ('[routes]\nid = "hr"\n', 1, "write [[routes]], with two brackets"),
    "an open string at the end": ('[[routes]]\nid = """', 2, "this is not TOML"),
    "no routes": ('[hub]\nname = "x"\n', 1, "there are no routes"),
    "an unknown table": ("[hubb]\n" + DEFAULT, 1, "unknown key 'hubb': did you mean \"hub\"?"),
    "the hub is no table": ("hub = 1\n" + DEFAULT, 1, "hub must be a table"),
    "an unknown hub key": ('[hub]\nnaem = "x"\n' + DEFAULT, 2, "unknown key 'naem': did you mean \"name\"?"),
    "half a provider": ('[hub]\nprovider_organization = "x"\n' + DEFAULT, 1, "go together"),
    "an unknown route key": (DEFAULT + "timeout_secs = 3\n", 8, 'did you mean "timeout_seconds"?'),
    "no name": (DEFAULT.replace('name = "other"', ""), 1, "name is missing"),
    "an empty text": (DEFAULT.replace('"About other."', '" "'), 4, "description is empty"),
    "a wrong type": (DEFAULT + 'retries = "2"\n', 8, "retries is '2': it must be a whole number"),
    "a boolean number": (DEFAULT + "retries = true\n", 8, "it must be a whole number"),
    "a negative number": (DEFAULT + "retries = -1\n", 8, "it must be 0 or more"),
    "no time at all": (DEFAULT + "timeout_seconds = 0\n", 8, "above 0"),
    "an unknown kind": (DEFAULT + 'kind = "mpc"\n', 8, 'did you mean "mcp"?'),
    "a key of MCP for an agent of A2A": (DEFAULT + 'text_argument = "q"\n', 8, 'has no meaning for kind = "a2a"'),
    "a key of A2A for an MCP server": (DEFAULT + 'kind = "mcp"\nbinding = "JSONRPC"\n', 9, "has no meaning for kind"),
    "a tool without the argument": (DEFAULT + 'kind = "mcp"\ntool = "find"\n', 1, "tool and text_argument go together"),
    "a breaker that is no table": (DEFAULT + "breaker = 5\n", 8, 'write "off", or { failures = 5'),
    "an unknown key of a breaker": (DEFAULT + "breaker = { failure = 2 }\n", 8, 'did you mean "failures"?'),
    "a breaker that opens by itself": (DEFAULT + "breaker = { failures = 0 }\n", 8, "it must be 1 or more"),
    "no number": (DEFAULT + "timeout_seconds = nan\n", 8, "above 0"),
    "a number as flag": (DEFAULT + "sticky = 1\n", 8, "sticky is 1: it must be true or false"),
    "a text as list": (DEFAULT + 'tags = "a"\n', 8, "tags is 'a': it must be a list"),
    "a number in a list": (DEFAULT + 'tags = [\n  "a",\n  3,\n]\n', 8, "tags holds 3"),
    "an unknown boundary": (DEFAULT.replace('"public"', '"pubic"'), 6, 'did you mean "public"?'),
    "no boundary": (DEFAULT.replace('boundary = "public"', ""), 1, "boundary is missing"),
    "an unknown version": (DEFAULT + 'protocol_version = "2.0"\n', 8, '"0.3", "1.0"'),
    "an unknown binding": (DEFAULT + 'binding = "GRPC"\n', 8, '"JSONRPC", "HTTP+JSON"'),
    "a bad id": (DEFAULT.replace('id = "other"', 'id = "Other Route"'), 2, "lower-case letters"),
    "the same id twice": (
        DEFAULT + route_text("other", 'keywords = ["x"]', priority=1),
        9,
        "the route at line 1",
    ),
    "the same priority twice": (
        GOOD + route_text("b", 'keywords = ["b"]', priority=2) + DEFAULT,
        15,
        "'expense'",
    ),
    "no priority": (route_text("b", 'keywords = ["b"]') + DEFAULT, 1, "priority is missing"),
    "no default": (GOOD, 1, "no route is the default"),
    "a default that may be missing": (
        DEFAULT + "optional = true\n",
        8,
        "the default takes what matches no rule: it is always there",
    ),
    "two defaults": (DEFAULT + route_text("b", "default = true"), 14, "'other' is the default already"),
    "no rule": (route_text("b", priority=1) + DEFAULT, 1, "has no rule"),
    "a keyword of nothing": (
        GOOD + 'unless = ["x"]\n' + DEFAULT + 'keywords = ["・"]\n',
        17,
        "no letter or digit",
    ),
    "a keyword of two routes": (
        GOOD + DEFAULT + 'keywords = [\n"a",\n"ＥＸＰＥＮＳＥ"]\n',
        16,
        "one of 'expense'",
    ),
    "a keyword twice": (DEFAULT + 'keywords = ["WBS", "wbs"]\n', 8, "stands twice"),
    "an unknown fallback": (DEFAULT + 'fallbacks = [\n"gone"]\n', 8, "'gone' is no other route with an agent"),
    "a route as its own fallback": (DEFAULT + 'fallbacks = ["other"]\n', 8, "'other' is no other route"),
    "a fallback twice": (GOOD + DEFAULT + 'fallbacks = ["expense", "expense"]\n', 16, "stands twice"),
    "too many fallbacks": (DEFAULT + 'fallbacks = ["a", "b", "c", "d"]\n', 8, "name at most 3 fallbacks"),
    "a bad pattern": (DEFAULT + "patterns = ['ok', '(']\n", 8, "is not RE2"),
    "look-ahead": (DEFAULT + "patterns = [\n'ok', # fine\n'a(?=b)']\n", 8, "RE2 has no look-around"),
    "a bad exception": (DEFAULT + "unless = ['[']\n", 8, "is not RE2"),
    "a pattern in full width": (DEFAULT + "patterns = ['ＷＢＳ']\n", 8, "write 'WBS'"),
    "a pattern for everything": (DEFAULT + "patterns = ['a*']\n", 8, "matches an empty text"),
    "an extension that is no URI": (DEFAULT + 'extensions = ["urn:a", "tools"]\n', 8, "'tools' is no URI"),
    "a domain written as an address": (
        DEFAULT + 'allow_domains = ["@a.example"]\n',
        8,
        "write a domain by itself",
    ),
    "a domain in capitals": (DEFAULT + 'allow_domains = ["A.example"]\n', 8, "in lower case"),
    "an address without its domain": (
        DEFAULT + 'allow_emails = ["a@b.example", "anna"]\n',
        8,
        "'anna': write a whole",
    ),
    "a development agent for everybody": (
        DEFAULT + f'extensions = ["{URI.replace("/v0/", "/v0.2/")}"]\n',
        8,
        "name who may, in allow_emails, allow_domains or allow_clients",
    ),
    "two extensions in one": (DEFAULT + 'extensions = ["urn:a,urn:b"]\n', 8, "is no URI"),
    "an unset variable": (DEFAULT.replace("https://agent.example", "${PM_URL}"), 5, "the variable PM_URL"),
    "http over a network": (DEFAULT.replace("https:", "http:"), 5, "use https"),
    "no URL": (DEFAULT.replace("https://agent.example", "agent.example"), 5, "starts with https://"),
    "another scheme": (DEFAULT.replace("https:", "ftp:"), 5, "starts with https://"),
    "a password in the URL": (DEFAULT.replace("agent.", "me:secret@agent."), 5, "user name"),
    "a port that is none": (DEFAULT.replace(".example", ".example:port"), 5, "not a URL"),
}


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_with_its_line(text: str, line: int, message: str) -> None:
    found = problems(text)
    assert any(at == line and message in told for at, told in found), found


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines() -> None:
    text = GOOD + 'retires = 1\npatterns = ["("]\n' + DEFAULT.replace('"public"', '"moon"')
    assert [line for line, _ in problems(text)] == [9, 10, 16]


def test_an_error_reads_like_a_compilers() -> None:
    with pytest.raises(RouteTableError, match=r"^table\.toml:1: there are no routes"):
        load("", variables={}, file="table.toml")


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:80"])
def test_this_machine_may_be_called_over_http(host: str) -> None:
    url = f"http://{host}/a2a"
    assert load(DEFAULT.replace("https://agent.example", url), variables={}).default.url == url


def test_a_breaker_has_limits_of_its_routes_own_or_is_off() -> None:
    def breaker(written: str) -> BreakerLimits | None:
        return load(f"{DEFAULT}breaker = {written}\n", variables={}).default.breaker

    assert breaker("{ failures = 2 }") == BreakerLimits(failures=2, pause_seconds=30)
    assert breaker("{ failures = 2, pause_seconds = 0.5 }") == BreakerLimits(failures=2, pause_seconds=0.5)
    assert breaker('"off"') is None


def test_a_variable_in_a_comment_or_description_is_not_needed() -> None:
    load("# ${NOWHERE}\n" + DEFAULT.replace("About other.", "Costs ${MUCH}."), variables={})


def test_lines_are_right_behind_multi_line_texts_and_comments() -> None:
    text = (
        '# [[routes]]\n[hub]\ndescription = """\nid = 1 # no comment\n[[routes]]\n"""\nname = "a # b"\n\n'
        + DEFAULT
        + "patterns = [ # '('\n  '''\\d''', 'a[\"]',\n  # ']'\n]\nunless = ['(']\n"
    )
    assert [line for line, _ in problems(text)] == [20]
