"""Agent cards. Oddities: 0.3 has one `url` with a `preferredTransport` and `additionalInterfaces`, all of one `protocolVersion`,
security schemes told apart by `type` as in OpenAPI, and the extended card's flag at the top level.
"""

from collections.abc import Iterable
from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard, AgentSkill, SecurityRequirement
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.protojson import as_list, as_object, copied, without_absent

_ALIKE = ("name", "description", "version", "provider", "documentationUrl", "iconUrl", "defaultInputModes")
_SKILL_ALIKE = ("id", "name", "description", "tags", "examples", "inputModes", "outputModes")
_SCHEME_TYPES = {
    "apiKey": "apiKeySecurityScheme",
    "http": "httpAuthSecurityScheme",
    "oauth2": "oauth2SecurityScheme",
    "openIdConnect": "openIdConnectSecurityScheme",
    "mutualTLS": "mtlsSecurityScheme",
}

_EMPTY_SKILL: dict[str, Any] = {"id": "", "name": "", "description": "", "tags": []}
_EMPTY_INTERFACE = {"protocolBinding": "", "protocolVersion": ""}
_EMPTY_CARD: dict[str, Any] = {
    "name": "",
    "description": "",
    "version": "",
    "capabilities": {},
    "skills": [],
    "defaultInputModes": [],
    "defaultOutputModes": [],
}

_REQUIRED_OF_FLOWS: dict[str, dict[str, Any]] = {
    "implicit": {"authorizationUrl": "", "scopes": {}},
    "password": {"tokenUrl": "", "scopes": {}},
}


def to_compat_card(card: AgentCard, *, protocol_version: str = "0.3.0") -> dict[str, Any]:
    """Return the card in 0.3's JSON: its interfaces of version 0.3 only, and no field that 0.3's schema does not have.

    Raises ValueError when the card has no interface of version 0.3.
    """
    interfaces = [item for item in card.supported_interfaces if item.protocol_version.startswith("0.3")]
    if not interfaces:
        raise ValueError("the card has no interface of A2A 0.3")
    body = _plain(card)
    first = interfaces[0]
    capabilities = {name: item for name, item in body["capabilities"].items() if name != "extendedAgentCard"}
    return without_absent(
        {
            "protocolVersion": protocol_version,
            **copied(body, *_ALIKE, "defaultOutputModes"),
            "url": first.url,
            "preferredTransport": first.protocol_binding,
            "additionalInterfaces": [{"url": item.url, "transport": item.protocol_binding} for item in interfaces],
            "capabilities": capabilities,
            "skills": [_to_compat_skill(skill) for skill in card.skills],
            "securitySchemes": {
                name: _to_compat_scheme(_plain(scheme)) for name, scheme in (card.security_schemes or {}).items()
            }
            or None,
            "security": _to_compat_security(card.security_requirements),
            "supportsAuthenticatedExtendedCard": card.capabilities.extended_agent_card,
        }
    )


def to_compat_rest_card(card: AgentCard) -> dict[str, Any]:
    """Return the card for HTTP+JSON. 0.3's official clients disagree on the form of a security scheme: each carries both."""
    compat = to_compat_card(card)
    for name, scheme in _plain(card).get("securitySchemes", {}).items():
        compat["securitySchemes"][name] |= scheme
    return compat


def both_versions(card: AgentCard, *, protocol_version: str = "0.3.0") -> dict[str, Any]:
    """Return one card that clients of either version can read: 1.0's members and, beside them, 0.3's.

    `securitySchemes` exists in both with another shape: each scheme carries both. Signatures are left out, since the card that
    was signed is another one.
    """
    compat = to_compat_card(card, protocol_version=protocol_version)
    body = _plain(card)
    body.pop("signatures", None)
    merged = compat | body
    for name, scheme in body.get("securitySchemes", {}).items():
        merged["securitySchemes"][name] = scheme | compat["securitySchemes"][name]
    for skill, compat_skill in zip(body["skills"], compat["skills"], strict=True):
        skill.update(compat_skill)
    return merged


def to_core_card(value: Any) -> AgentCard:
    """Return an agent's card, of 0.3, 1.0 or both in one, as a 1.0 card. Raises INVALID_PARAMS."""
    card = as_object(value, "card")
    if "supportedInterfaces" in card or "supported_interfaces" in card:
        return protojson.read(AgentCard, _without_other_version(card))
    core = copied(card, *_ALIKE, "defaultOutputModes", "signatures")
    core["supportedInterfaces"] = list(_to_core_interfaces(card))
    core["capabilities"] = dict(as_object(card.get("capabilities", {}), "capabilities"))
    if card.get("supportsAuthenticatedExtendedCard") is not None:
        core["capabilities"]["extendedAgentCard"] = card["supportsAuthenticatedExtendedCard"]
    skills = as_list(card.get("skills"), "skills")
    core["skills"] = [_to_core_skill(skill, f"skills[{index}]") for index, skill in enumerate(skills)]
    if isinstance(card.get("securitySchemes"), dict):
        core["securitySchemes"] = {
            name: _to_core_scheme(scheme, f"securitySchemes.{name}") for name, scheme in card["securitySchemes"].items()
        }
    core |= _to_core_security(card, "")
    return protojson.read(AgentCard, core)


def to_core_card_of_agent(value: Any) -> tuple[AgentCard, str]:
    """Return an agent's card as a 1.0 card, and what it lacks: ProtoJSON, and so many agents, leave empty members out.

    Raises INVALID_PARAMS for other faults.
    """
    try:
        return to_core_card(value), ""
    except A2AError as problem:
        if not isinstance(value, dict):
            raise
        card = {**_EMPTY_CARD, **value}
        for name, empty in (("skills", _EMPTY_SKILL), ("supportedInterfaces", _EMPTY_INTERFACE)):
            if isinstance(items := card.get(name), list):
                card[name] = [{**empty, **each} if isinstance(each, dict) else each for each in items]
        return to_core_card(card), problem.message


def to_core_interfaces(value: Any) -> dict[str, Any]:
    """Return the parts of such a card that describe its interfaces, as 1.0 JSON. Raises INVALID_PARAMS for faults in them."""
    card = as_object(value, "card")
    if "supportedInterfaces" in card or "supported_interfaces" in card:
        return _without_other_version(card)
    return copied(card, "name", "capabilities") | {"supportedInterfaces": list(_to_core_interfaces(card))}


def _without_other_version(card: dict[str, Any]) -> dict[str, Any]:
    """Return a 1.0 card with the interfaces that it describes in 0.3's way after its own."""
    interfaces = card.get("supportedInterfaces", card.get("supported_interfaces"))
    known = {
        _same(item.get("url"), item.get("protocolBinding"), str(item.get("protocolVersion"))[:3])
        for item in as_list(interfaces, "supportedInterfaces")
        if isinstance(item, dict)
    }
    added = [
        item
        for item in (_to_core_interfaces(card) if "url" in card and "protocolVersion" in card else ())
        if _same(item["url"], item["protocolBinding"], item["protocolVersion"]) not in known
    ]
    return card | {"supportedInterfaces": [*as_list(interfaces, "supportedInterfaces"), *added]}


def _to_core_interfaces(card: dict[str, Any]) -> Iterable[dict[str, Any]]:
    # 0.2's cards need not name a version, and for the hub 0.2 is 0.3.
    if not isinstance(card.get("url"), str) or not isinstance(card.get("protocolVersion", ""), str):
        raise invalid_field("card", "must have url and protocolVersion, or supportedInterfaces")
    preferred = card.get("preferredTransport") or "JSONRPC"
    seen = set()
    listed = as_list(card.get("additionalInterfaces") or [], "additionalInterfaces")
    others = [as_object(each, "additionalInterfaces[]") for each in listed]
    for url, binding in [(card["url"], preferred), *((each.get("url"), each.get("transport")) for each in others)]:
        if _same(url, binding) not in seen:
            seen.add(_same(url, binding))
            yield {"url": url, "protocolBinding": binding, "protocolVersion": "0.3"}


def _same(*members: Any) -> tuple[str, ...]:
    """Return the key by which equal interfaces are recognised, also for members that are no strings."""
    return tuple(map(str, members))


def _to_compat_skill(skill: AgentSkill) -> dict[str, Any]:
    body = copied(_plain(skill), *_SKILL_ALIKE)
    return without_absent(
        body | {"tags": list(skill.tags), "security": _to_compat_security(skill.security_requirements)}
    )


def _to_compat_security(requirements: tuple[SecurityRequirement, ...]) -> list[dict[str, list[str]]] | None:
    return [{name: list(item.list) for name, item in each.schemes.items()} for each in requirements] or None


def _to_core_skill(value: Any, path: str) -> dict[str, Any]:
    skill = as_object(value, path)
    return copied(skill, *_SKILL_ALIKE) | _to_core_security(skill, f"{path}.")


def _to_core_security(value: dict[str, Any], path: str) -> dict[str, Any]:
    if value.get("security") is None:
        return {}
    requirements = as_list(value["security"], f"{path}security")
    return {"securityRequirements": [_to_core_requirement(item, f"{path}security[]") for item in requirements]}


def _to_core_requirement(value: Any, path: str) -> dict[str, Any]:
    requirement = as_object(value, path)
    if isinstance(requirement.get("schemes"), dict):
        return requirement
    return {"schemes": {name: {"list": scopes} for name, scopes in requirement.items()}}


def _to_compat_scheme(scheme: dict[str, Any]) -> dict[str, Any]:
    for type_, member in _SCHEME_TYPES.items():
        if member in scheme:
            body = dict(scheme[member])
            if type_ == "apiKey":
                body["in"] = body.pop("location")
            if type_ == "oauth2":
                body["flows"] = {
                    name: _REQUIRED_OF_FLOWS.get(name, {})
                    | {key: item for key, item in flow.items() if key != "pkceRequired"}
                    for name, flow in body["flows"].items()
                    if name != "deviceCode"
                }
            return {"type": type_} | body
    raise ValueError("a security scheme has no type")


def _to_core_scheme(value: Any, path: str) -> dict[str, Any]:
    scheme = as_object(value, path)
    type_ = scheme.get("type")
    if not isinstance(type_, str):
        return scheme
    if type_ not in _SCHEME_TYPES:
        raise invalid_field(f"{path}.type", f"must be one of {', '.join(_SCHEME_TYPES)}")
    body = {name: item for name, item in scheme.items() if name != "type"}
    if "in" in body:
        body["location"] = body.pop("in")
    return {_SCHEME_TYPES[type_]: body}


def _plain(value: Any) -> dict[str, Any]:
    plain: dict[str, Any] = protojson.decode(protojson.encode(value))
    return plain
