"""Surfaces of A2UI for people: images, frames and links lead to allowed hosts only, as links of Markdown do."""

from typing import Any

import pytest

from functions.hub.display import surface_for_display

_HOSTS = ("docs.example.com",)
_GOOD, _EVIL = "https://docs.example.com/a.png", "https://evil.example/?q=secret"


def _components(*components: Any) -> Any:
    return {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": list(components)}}


def _frame(**values: str) -> Any:
    return _components({"id": "f", "component": "IFrameSrcdoc", "title": "Map", **values})


def _link(url: str) -> Any:
    action = {"functionCall": {"call": "openUrl", "args": {"url": url}}}
    return _components({"id": "b", "component": "Button", "child": "t", "action": action})


def _image_of_0_8(url: Any) -> Any:
    components = [{"id": "i", "component": {"Image": {"url": url, "fit": "contain"}}}]
    return {"surfaceUpdate": {"surfaceId": "s", "components": components}}


@pytest.mark.parametrize(
    "data",
    [
        _image_of_0_8({"literalString": _GOOD}),
        _image_of_0_8({"path": "/image"}),
        _components({"id": "i", "component": "Image", "url": {"path": "/image"}}),
        [_link(_GOOD), _frame(url=_GOOD)],
        {"createSurface": {"surfaceId": "s", "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic.json"}},
        {"updateDataModel": {"surfaceId": "s", "path": "/", "value": {"image": _GOOD, "at": "12:30", "n": [1, None]}}},
        _components({"id": "t", "component": "Text", "text": "See https://evil.example, or note: nothing // else"}),
        ["text", 1, None],
    ],
    ids=str,
)
def test_what_leads_to_allowed_hosts_is_unchanged(data: Any) -> None:
    assert surface_for_display(data, _HOSTS) == data


@pytest.mark.parametrize(
    "url", [_EVIL, "//evil.example/x", "javascript:alert(1)", "https:/\\evil.example", "ms-word:x", "a/b"]
)
def test_an_address_of_another_host_is_none(url: str) -> None:
    blank = "about:blank"
    assert surface_for_display(_link(url), _HOSTS) == _link(blank)
    assert surface_for_display(_image_of_0_8({"literalString": url}), _HOSTS) == _image_of_0_8({"literalString": blank})
    assert surface_for_display([_frame(url=url, htmlContent="<b>x</b>")], _HOSTS) == [
        _frame(url=blank, htmlContent=blank)
    ]


@pytest.mark.parametrize(
    "text", [_EVIL, "//evil.example/x", " \x01https:\n//evil.example", "\\\\evil.example", "JavaScript:alert(1)"]
)
def test_data_to_which_an_image_may_be_bound_holds_no_address_of_another_host(text: str) -> None:
    for name in ("image", "catalogId", "path", "id"):
        data = {"updateDataModel": {"surfaceId": "s", "value": {name: text}}}
        (shown,) = surface_for_display(data, _HOSTS)["updateDataModel"]["value"].values()
        assert shown.startswith("`")
    assert surface_for_display(
        _components({"id": "t", "component": "Text", "text": "![x](https://evil.example)"}), ()
    ) == (_components({"id": "t", "component": "Text", "text": "x"}))
