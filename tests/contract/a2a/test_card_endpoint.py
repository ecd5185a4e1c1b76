"""The agent card: strict for the version that is asked for, readable for both where none is, cached (A2A 1.0.1 §8)."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import (
    AgentCapabilities,
    AgentCard,
    AgentCardSignature,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    AuthorizationCodeOAuthFlow,
    OAuth2SecurityScheme,
    OAuthFlows,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a_hub.a2a.card_endpoint import PATHS, CardEndpoint
from a2a_hub.a2a.card_signature import CardSigner, is_signed_by, signer_of
from a2a_hub.a2a.compat.v0_3.card import to_compat_card, to_core_card
from a2a_hub.a2a.compat.v0_3.event import to_compat_result
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.http.dispatch import Dispatcher
from a2a_hub.http.messages import Request, Response
from a2a_hub.runtime.function import anonymous, serve
from a2a_hub.telemetry.log import Log
from local.settings import key_pair
from tests.contract.a2a.schemas import faults, faults_v0_3

MAKE_TIME = 1_769_851_800
HTTP_TIME = "Sat, 31 Jan 2026 09:30:00 GMT"
_FLOW = AuthorizationCodeOAuthFlow(
    authorization_url="https://accounts.google.com/o/oauth2/v2/auth",
    token_url="https://oauth2.googleapis.com/token",
    scopes={"openid": "who you are"},
    pkce_required=True,
)
CARD = AgentCard(
    name="Hub",
    description="経費と規程",
    version="1.2.3",
    supported_interfaces=tuple(
        AgentInterface(url="https://hub.example.com/", protocol_binding=binding, protocol_version=version)
        for version in ("1.0", "0.3")
        for binding in ("JSONRPC", "HTTP+JSON")
    ),
    capabilities=AgentCapabilities(
        streaming=True,
        push_notifications=False,
        extended_agent_card=False,
        extensions=(AgentExtension(uri="https://example.com/ext/v1"),),
    ),
    default_input_modes=("text/plain",),
    default_output_modes=("text/plain",),
    skills=(
        AgentSkill(
            id="expense",
            name="経費",
            description="d",
            tags=(),
            security_requirements=(SecurityRequirement(schemes={"google": StringList(list=("openid",))}),),
        ),
    ),
    security_schemes={
        "google": SecurityScheme(
            oauth2_security_scheme=OAuth2SecurityScheme(flows=OAuthFlows(authorization_code=_FLOW))
        )
    },
    security_requirements=(SecurityRequirement(schemes={"google": StringList(list=("openid",))}),),
    signatures=(AgentCardSignature(protected="e30", signature="c2ln"),),
)
EVERY_PATH = pytest.mark.parametrize("path", sorted(PATHS) + [path + "/" for path in sorted(PATHS)])


def _endpoint(
    card: AgentCard = CARD,
    *,
    now: Iterator[int] | None = None,
    unnamed: Version | None = None,
    signer: CardSigner | None = None,
) -> CardEndpoint:
    times = now or itertools.count(MAKE_TIME)
    return CardEndpoint(
        lambda: card,
        protocol_version_v0_3="0.3.0",
        max_age_seconds=300,
        now=lambda: float(next(times)),
        unnamed=unnamed,
        signer=signer,
    )


def _get(
    endpoint: CardEndpoint, method: str = "GET", path: str = "/.well-known/agent-card.json", **headers: str
) -> Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    dispatcher = Dispatcher(endpoint.endpoints, identify=anonymous)
    log = Log(lambda _: None, clock=lambda: 0.0, new_id=lambda: "r", function="agent_card")
    return serve(dispatcher.handle, log=log)(Request(method=method, path=path, headers=given))


def _json(response: Response) -> Any:
    assert isinstance(response.body, bytes)
    return json.loads(response.body)


@EVERY_PATH
def test_a_request_that_names_1_0_gets_the_strict_1_0_card(path: str) -> None:
    card = _json(_get(_endpoint(), path=path, a2a_version="1.0"))
    assert faults("AgentCard", card) == []
    assert protojson.read(AgentCard, card) == CARD


@EVERY_PATH
def test_a_request_that_names_0_3_gets_the_strict_0_3_card(path: str) -> None:
    card = _json(_get(_endpoint(), path=path, a2a_version="0.3"))
    assert faults_v0_3("AgentCard", card) == []
    assert card["protocolVersion"] == "0.3.0"
    assert card["url"] == "https://hub.example.com/"
    assert card["preferredTransport"] == "JSONRPC"
    assert "supportedInterfaces" not in card
    assert "signatures" not in card


def test_over_http_json_a_0_3_card_has_its_security_schemes_in_both_forms() -> None:
    """The official Python SDK reads 0.3's schema there, the JavaScript one 0.3's proto."""
    card = to_compat_result(CARD, Binding.HTTP_JSON)
    assert faults_v0_3("AgentCard", card, strict=False) == []
    schema, proto = (to_compat_card(CARD), protojson.decode(protojson.encode(CARD)))
    scheme = card["securitySchemes"]["google"]
    assert scheme == schema["securitySchemes"]["google"] | proto["securitySchemes"]["google"]
    assert set(scheme) == {"type", "flows", "oauth2SecurityScheme"}


def test_gemini_enterprise_finds_what_it_requires() -> None:
    card = _json(_get(_endpoint(), a2a_version="0.3"))
    required = (
        *("name", "description", "url", "version", "protocolVersion", "capabilities"),
        *("defaultInputModes", "defaultOutputModes", "skills"),
    )
    assert not [name for name in required if name not in card]
    assert card["skills"][0]["tags"] == []
    assert all("/" in mode for mode in card["defaultInputModes"] + card["defaultOutputModes"])
    assert all(isinstance(extension, dict) for extension in card["capabilities"]["extensions"])


@EVERY_PATH
def test_a_request_that_names_no_version_gets_a_card_for_both(path: str) -> None:
    card = _json(_get(_endpoint(), path=path))
    assert faults_v0_3("AgentCard", card, strict=False) == []
    read = to_core_card(card)
    assert read == replace(CARD, signatures=())
    assert protojson.read(AgentCard, card) == replace(CARD, signatures=())


@pytest.mark.parametrize("unnamed", list(Version))
def test_the_card_of_a_request_that_names_no_version_can_be_that_of_one(unnamed: Version) -> None:
    endpoint = _endpoint(unnamed=unnamed)
    for version in Version:
        assert _get(endpoint, a2a_version=version).body == _get(_endpoint(), a2a_version=version).body
    of_one = _get(_endpoint(), a2a_version=unnamed).body
    assert [_get(endpoint).body, _get(endpoint, a2a_version="9.9").body] == [of_one, of_one]


def test_a_rewritten_card_keeps_no_old_signature() -> None:
    endpoint = _endpoint()
    assert "signatures" in _json(_get(endpoint, a2a_version="1.0"))
    assert "signatures" not in _json(_get(endpoint))


def test_the_query_names_the_version_as_well_as_the_header_does() -> None:
    request = Request(method="GET", path="/.well-known/agent-card.json", query={"A2A-Version": ["0.3"]})
    assert _endpoint().serve(request).body == _get(_endpoint(), a2a_version="0.3").body


@pytest.mark.parametrize("version", ["9.9", "1.1", "abc", "1.0,0.3"])
def test_a_client_of_another_version_learns_from_the_card_which_ones_there_are(version: str) -> None:
    response = _get(_endpoint(), a2a_version=version)
    assert response.status == 200
    assert (response.body, response.headers) == (_get(_endpoint()).body, _get(_endpoint()).headers)


@pytest.mark.parametrize(("spoken", "other"), [("1.0", "0.3"), ("0.3", "1.0")])
def test_an_agent_of_one_version_has_the_card_of_that_one_for_everybody(spoken: str, other: str) -> None:
    only = tuple(item for item in CARD.supported_interfaces if item.protocol_version == spoken)
    endpoint = _endpoint(replace(CARD, supported_interfaces=only))
    assert _get(endpoint, a2a_version=other).body == _get(endpoint, a2a_version=spoken).body
    assert _get(endpoint).body == _get(endpoint, a2a_version=spoken).body


def test_the_card_may_be_cached_and_says_for_how_long() -> None:
    response = _get(_endpoint())
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "public, max-age=300"
    assert response.headers["last-modified"] == HTTP_TIME
    assert response.headers["vary"] == "A2A-Version"
    assert response.headers["etag"].startswith('"')


def test_each_form_of_the_card_has_its_own_etag() -> None:
    endpoint = _endpoint()
    tags = {
        _get(endpoint, **headers).headers["etag"] for headers in ({}, {"a2a_version": "1.0"}, {"a2a_version": "0.3"})
    }
    assert len(tags) == 3


@pytest.mark.parametrize("form", ["{}", "W/{}", '"x", {}', '{} , W/"y"', "*"])
def test_a_client_that_has_the_card_gets_304(form: str) -> None:
    endpoint = _endpoint()
    etag = _get(endpoint).headers["etag"]
    response = _get(endpoint, if_none_match=form.replace("{}", etag))
    assert response.status == 304
    assert response.body == b""
    assert response.headers["etag"] == etag
    assert response.headers["cache-control"]


@pytest.mark.parametrize("given", ['"other"', "", "x", '"' + "x" * 100_000 + '"'])
def test_a_client_that_has_another_card_gets_this_one(given: str) -> None:
    assert _get(_endpoint(), if_none_match=given).status == 200


def test_a_date_is_enough_to_get_304() -> None:
    assert _get(_endpoint(), if_modified_since=HTTP_TIME).status == 304
    assert _get(_endpoint(), if_modified_since="Sat, 31 Jan 2026 09:29:59 GMT").status == 200


def test_an_etag_counts_more_than_a_date() -> None:
    assert _get(_endpoint(), if_none_match='"other"', if_modified_since=HTTP_TIME).status == 200


@pytest.mark.parametrize(
    "given",
    [
        *("yesterday", "", "0", "-1", "Sat, 31 Jan 99999 09:30:00 GMT", "Mon, 01 Jan 0001 00:00:00 -0000"),
        *("Sat, 99 Jan 2026 09:30:00 GMT", "x" * 100_000, "Sat, 31 Jan 2026 09:30:00 +9999"),
    ],
)
def test_a_date_that_cannot_be_read_is_ignored(given: str) -> None:
    assert _get(_endpoint(), if_modified_since=given).status == 200


def test_the_etag_and_the_date_change_with_the_card_and_only_then() -> None:
    current = CARD
    times = itertools.count(MAKE_TIME)
    endpoint = CardEndpoint(
        lambda: current, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=lambda: float(next(times))
    )
    first, again = _get(endpoint), _get(endpoint)
    assert first.headers == again.headers
    current = replace(CARD, version="1.2.4")
    changed = _get(endpoint)
    assert changed.headers["etag"] != first.headers["etag"]
    assert changed.headers["last-modified"] == "Sat, 31 Jan 2026 09:30:01 GMT"


def test_the_card_for_1_0_is_signed_and_no_other_and_its_tag_is_that_of_every_instance() -> None:
    pem = key_pair().private
    one, other = (_endpoint(signer=signer_of(pem, key_set_url="https://hub.example.com/keys")) for _ in range(2))
    key = signer_of(pem, key_set_url="").key
    assert is_signed_by(_json(_get(one, a2a_version="1.0")), [key])
    for headers in ({}, {"a2a_version": "0.3"}):
        assert not is_signed_by(_json(_get(one, **headers)), [key])
    tags = [_get(each, a2a_version="1.0").headers["etag"] for each in (one, other, _endpoint())]
    assert tags[0] == tags[1] != tags[2]


def test_head_has_the_headers_of_get() -> None:
    endpoint = _endpoint()
    assert _get(endpoint, "HEAD").headers == _get(endpoint).headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_not_allowed(method: str) -> None:
    response = _get(_endpoint(), method)
    assert response.status == 405
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path", ["/", "/.well-known", "/.well-known/agent-card.jsonx", "/x/.well-known/agent-card.json"]
)
def test_other_paths_are_not_the_cards(path: str) -> None:
    assert _get(_endpoint(), path=path).status == 404
