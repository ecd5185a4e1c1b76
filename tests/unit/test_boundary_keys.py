"""The keys of a route that belong to its boundary, and every mistake in them with its line; a secret is in no message."""

import pytest

from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.kinds import ApiKey, OAuthClientCredentials
from a2a_hub.boundaries.sources import ClientAuthentication, OAuthClient, SecretReference
from a2a_hub.routing.parser import load
from a2a_hub.routing.routes import RouteTableError
from tests.unit.route_tables import DEFAULT

RESOURCE = "projects/my-project/secrets/travel-key/versions/latest"
OAUTH = 'token_url = "https://login.example/token"\nclient_id = "hub"\nclient_secret = "env:TRAVEL_SECRET"\n'


def boundary_of(kind: str, keys: str, **variables: str) -> Boundary:
    text = DEFAULT.replace('boundary = "public"', f'boundary = "{kind}"\n{keys}')
    return load(text, variables=variables).default.boundary


def problems(kind: str, keys: str) -> list[tuple[int, str]]:
    """The line of each mistake, counted from that of `boundary`, and what is wrong."""
    before = DEFAULT.partition('boundary = "public"')[0].count("\n") + 1
    with pytest.raises(RouteTableError) as caught:
        boundary_of(kind, keys)
    return [(problem.line - before, problem.message) for problem in caught.value.problems]


def test_a_key_goes_into_a_header_unless_the_route_names_a_parameter() -> None:
    secret = SecretReference("env:TRAVEL_KEY")
    assert boundary_of("api_key", 'api_key = "env:TRAVEL_KEY"') == ApiKey(secret=secret, name="x-api-key")
    named = boundary_of("api_key", f'api_key = "{RESOURCE}"\napi_key_query = "key"')
    assert named == ApiKey(secret=SecretReference(RESOURCE), name="key", in_query=True)


def test_a_client_has_an_address_an_id_and_a_secret_and_may_have_more() -> None:
    client = OAuthClient(
        token_url="https://login.example/token",
        client_id="hub",
        secret=SecretReference("env:TRAVEL_SECRET"),
    )
    assert boundary_of("oauth_client_credentials", OAUTH) == OAuthClientCredentials(client=client)
    more = boundary_of(
        "oauth_client_credentials",
        OAUTH.replace("https://login.example", "${LOGIN_URL}")
        + 'scopes = ["book", "read"]\naudience = "travel"\ntoken_endpoint_auth_method = "client_secret_post"',
        LOGIN_URL="http://127.0.0.1:8080",
    )
    assert isinstance(more, OAuthClientCredentials)
    assert more.client.token_url == "http://127.0.0.1:8080/token"
    assert (more.client.scopes, more.client.audience) == (("book", "read"), "travel")
    assert more.client.authentication is ClientAuthentication.POST


@pytest.mark.parametrize("value", ['"sk-live-4711"', '"${TRAVEL_KEY}"', '"env:sk-live-4711"', "4711", '["4711"]'])
@pytest.mark.parametrize("kind", ["api_key", "oauth_client_credentials"])
def test_a_secret_in_the_table_is_refused_and_not_repeated(kind: str, value: str) -> None:
    keys = f"api_key = {value}"
    if kind != "api_key":
        keys = f"client_secret = {value}\n" + OAUTH.rpartition("client_secret")[0]
    ((line, message),) = problems(kind, keys)
    assert (line, "is no reference to a secret" in message) == (1, True)
    assert "4711" not in message


@pytest.mark.parametrize(
    ("kind", "keys", "expected"),
    [
        ("api_key", "", [(-4, "api_key is missing")]),
        ("api_key", 'api_key = "env:K"\napi_key_header = "a b"', [(2, "api_key_header is 'a b'")]),
        ("api_key", 'api_key = "env:K"\napi_key_header = "Host"', [(2, "api_key_header is 'Host'")]),
        (
            "api_key",
            'api_key = "env:K"\napi_key_header = "a"\napi_key_query = "b"',
            [(3, "the key goes into a header or into the query")],
        ),
        ("iam", 'api_key = "env:K"', [(1, 'api_key is no key of boundary "iam"')]),
        ("api_key", 'api_key = "env:K"\nscopes = ["a"]', [(2, 'scopes is no key of boundary "api_key"')]),
        (
            "oauth_client_credentials",
            OAUTH.replace("https", "http"),
            [(1, "token_url is 'http://login.example/token': http is only for this machine")],
        ),
        ("oauth_client_credentials", OAUTH + 'scopes = ["a b"]', [(4, "scope 'a b' is no scope")]),
        (
            "oauth_client_credentials",
            OAUTH + 'token_endpoint_auth_method = "private_key_jwt"',
            [(4, "token_endpoint_auth_method is 'private_key_jwt': it must be one of")],
        ),
        ("api-key", "", [(0, "boundary is 'api-key': it must be one of")]),
    ],
)
def test_each_mistake_has_its_line(kind: str, keys: str, expected: list[tuple[int, str]]) -> None:
    found = problems(kind, keys)
    assert len(found) == len(expected)
    for (line, message), (expected_line, start) in zip(found, expected, strict=True):
        assert message.startswith(start)
        assert line == expected_line or expected_line < 0


GOOGLE = DEFAULT.replace('boundary = "public"', 'boundary = "google_api"')


def test_the_access_token_of_the_hub_goes_to_google_alone() -> None:
    ours = 'url = "https://agent.example"'
    assert ours in GOOGLE
    for host in ("agent.example", "googleapis.com.example", "xgoogleapis.com", "storage.googleapis.com@a.example"):
        with pytest.raises(RouteTableError, match="url is "):
            load(GOOGLE.replace(ours, f'url = "https://{host}/v1"'), variables={})
    for url in ("https://us-central1-aiplatform.googleapis.com/v1", "http://127.0.0.1:8080", "${AN_URL}"):
        text = GOOGLE.replace(ours, f'url = "{url}"')
        assert str(load(text, variables={"AN_URL": "https://a.invalid"}).default.boundary) == "google_api"


def test_an_audience_for_another_boundary_is_left_alone_as_before() -> None:
    assert str(boundary_of("public", 'audience = "https://a.example"')) == "public"
