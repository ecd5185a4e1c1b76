"""The agent card's types (A2A 1.0.1 §4.4 and §4.5), and the values that all cards of this project share."""

from typing import Any

from msgspec import field

from a2a_hub.a2a.model import Binding, Version, Wire

__all__ = [
    "AgentCapabilities",
    "AgentCard",
    "AgentExtension",
    "AgentInterface",
    "AgentProvider",
    "AgentSkill",
]

OUTPUT_MODES = ("text/plain", "application/json")
"""The output modes of this project's agents: text, and data for clients that accept it."""


class StringList(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """A list of strings: in ProtoJSON, a map's value cannot be a bare list."""

    list: tuple[str, ...] = ()


class SecurityRequirement(Wire, frozen=True, kw_only=True):
    """§4.5: scheme name → scopes; all schemes of one requirement are needed together."""

    schemes: dict[str, StringList] = field(default_factory=dict)


class AuthorizationCodeOAuthFlow(Wire, frozen=True, kw_only=True):
    """§4.5.8."""

    authorization_url: str
    token_url: str
    scopes: dict[str, str]
    refresh_url: str | None = None
    pkce_required: bool = False


class ClientCredentialsOAuthFlow(Wire, frozen=True, kw_only=True):
    """§4.5.9."""

    token_url: str
    scopes: dict[str, str]
    refresh_url: str | None = None


class DeviceCodeOAuthFlow(Wire, frozen=True, kw_only=True):
    """§4.5.10."""

    device_authorization_url: str
    token_url: str
    scopes: dict[str, str]
    refresh_url: str | None = None


class ImplicitOAuthFlow(Wire, frozen=True, kw_only=True):
    """A flow that is deprecated in 1.0, and read from the cards of others."""

    authorization_url: str = ""
    refresh_url: str | None = None
    scopes: dict[str, str] | None = None


class PasswordOAuthFlow(Wire, frozen=True, kw_only=True):
    """A flow that is deprecated in 1.0, and read from the cards of others."""

    token_url: str = ""
    refresh_url: str | None = None
    scopes: dict[str, str] | None = None


class OAuthFlows(Wire, frozen=True, kw_only=True):
    """§4.5.7: exactly one member is set."""

    authorization_code: AuthorizationCodeOAuthFlow | None = None
    client_credentials: ClientCredentialsOAuthFlow | None = None
    implicit: ImplicitOAuthFlow | None = None
    password: PasswordOAuthFlow | None = None
    device_code: DeviceCodeOAuthFlow | None = None


class APIKeySecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.2; `location` is query, header or cookie."""

    location: str
    name: str
    description: str | None = None


class HTTPAuthSecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.3."""

    scheme: str
    description: str | None = None
    bearer_format: str | None = None


class OAuth2SecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.4."""

    flows: OAuthFlows
    description: str | None = None
    oauth2_metadata_url: str | None = None


class OpenIdConnectSecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.5."""

    open_id_connect_url: str
    description: str | None = None


class MutualTlsSecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.6."""

    description: str | None = None


class SecurityScheme(Wire, frozen=True, kw_only=True):
    """§4.5.1: exactly one member is set."""

    api_key_security_scheme: APIKeySecurityScheme | None = None
    http_auth_security_scheme: HTTPAuthSecurityScheme | None = None
    oauth2_security_scheme: OAuth2SecurityScheme | None = None
    open_id_connect_security_scheme: OpenIdConnectSecurityScheme | None = None
    mtls_security_scheme: MutualTlsSecurityScheme | None = None


class AgentInterface(Wire, frozen=True, kw_only=True):
    """§4.4.6; `protocol_binding` is JSONRPC, GRPC, HTTP+JSON or another name."""

    url: str
    protocol_binding: str
    protocol_version: str
    tenant: str | None = None


class AgentProvider(Wire, frozen=True, kw_only=True):
    """§4.4.2."""

    url: str
    organization: str


class AgentExtension(Wire, frozen=True, kw_only=True):
    """§4.4.4."""

    uri: str
    description: str | None = None
    required: bool = False
    params: dict[str, Any] | None = None


class AgentCapabilities(Wire, frozen=True, kw_only=True):
    """§4.4.3; None is "not said", which a client reads as false."""

    streaming: bool | None = None
    push_notifications: bool | None = None
    extensions: tuple[AgentExtension, ...] = ()
    extended_agent_card: bool | None = None


class AgentSkill(Wire, frozen=True, kw_only=True):
    """§4.4.5."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...] = ()
    input_modes: tuple[str, ...] = ()
    output_modes: tuple[str, ...] = ()
    security_requirements: tuple[SecurityRequirement, ...] = ()


class AgentCardSignature(Wire, frozen=True, kw_only=True):
    """§4.4.7: a JWS over the card without its signatures."""

    protected: str
    signature: str
    header: dict[str, Any] | None = None


class AgentCard(Wire, frozen=True, kw_only=True):
    """§4.4.1."""

    name: str
    description: str
    supported_interfaces: tuple[AgentInterface, ...]
    version: str
    capabilities: AgentCapabilities
    default_input_modes: tuple[str, ...]
    default_output_modes: tuple[str, ...]
    skills: tuple[AgentSkill, ...]
    provider: AgentProvider | None = None
    documentation_url: str | None = None
    security_schemes: dict[str, SecurityScheme] | None = None
    security_requirements: tuple[SecurityRequirement, ...] = ()
    signatures: tuple[AgentCardSignature, ...] = ()
    icon_url: str | None = None


def interfaces(url: str) -> tuple[AgentInterface, ...]:
    """Return the interfaces of `a2a_hub.a2a.server` at one URL: both bindings in all versions, the newest first."""
    return tuple(
        AgentInterface(url=url, protocol_binding=binding.value, protocol_version=version.value)
        for version in reversed(Version)
        for binding in Binding
    )
