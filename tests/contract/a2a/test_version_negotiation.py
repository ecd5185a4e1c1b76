"""`A2A-Version` as header or query parameter, against the method or the path (A2A 1.0.1 §3.6)."""

import pytest

from tests.contract.a2a.served import WAYS, Way, error_of, served

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
V0_3, V1_0 = "0.3", "1.0"


@pytest.mark.parametrize("version", ["9.9", "2.0", "0.2", "1", "v1.0", "1.0, 0.3", "x" * 5000, "1.0.0.0", "１.0"])
@EACH_WAY
def test_an_unsupported_version_is_refused_with_the_supported_ones(way: Way, version: str) -> None:
    for sent in (
        served().send("POST", way.path, way.body(way.params()), a2a_version=version),
        served().send("POST", way.path, way.body(way.params()), query={"A2A-Version": [version]}),
    ):
        status, error, _ = error_of(way, sent)
        assert (status, error["code"]) == ((400, 400) if way.rest else (200, -32009))
        (info,) = error["details" if way.rest else "data"]
        assert info["reason"] == "VERSION_NOT_SUPPORTED"
        assert info["metadata"]["supportedVersions"] == "0.3, 1.0"


@pytest.mark.parametrize("way", [way for way in WAYS if not way.rest or way.version == V1_0], ids=str)
def test_a_version_that_contradicts_method_or_path_is_refused(way: Way) -> None:
    other = V1_0 if way.version == V0_3 else V0_3
    status, error, id_ = error_of(way, served().send("POST", way.path, way.body(way.params()), a2a_version=other))
    assert (status, error["code"]) == ((400, 400) if way.rest else (200, -32009))
    assert id_ == (None if way.rest else "r-1")


@EACH_WAY
def test_header_and_query_that_name_different_versions_are_refused(way: Way) -> None:
    sent = served().send("POST", way.path, way.body(way.params()), a2a_version="1.0", query={"A2A-Version": ["0.3"]})
    _, error, _ = error_of(way, sent)
    assert error["code"] == (400 if way.rest else -32009)


@pytest.mark.parametrize(
    "query", [{"A2A-Version": ["0.3", "1.0"]}, {"A2A-Version": ["0.3"], "a2a-version": ["1.0"]}], ids=str
)
@EACH_WAY
def test_a_query_that_names_different_versions_is_refused(way: Way, query: dict[str, list[str]]) -> None:
    for named in (query, {name: versions[::-1] for name, versions in reversed(query.items())}):
        _, error, _ = error_of(way, served().send("POST", way.path, way.body(way.params()), query=named))
        assert error["code"] == (400 if way.rest else -32009)


@pytest.mark.parametrize("patch", ["", ".0", ".7"])
@EACH_WAY
def test_a_named_version_is_served_whatever_its_patch_number(way: Way, patch: str) -> None:
    body = way.body(way.params())
    assert served().send("POST", way.path, body, a2a_version=f"{way.version}{patch}").status == 200
    assert served().send("POST", way.path, body, query={"a2a-version": [str(way.version)]}).status == 200
    assert served().send("POST", way.path, body, a2a_version="").status == 200
