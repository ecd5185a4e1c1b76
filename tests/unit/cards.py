"""Agent cards to test with."""

import copy
from typing import Any

_CARD: dict[str, Any] = {
    "protocolVersion": "0.3.0",
    "name": "A2A hub",
    "description": "One agent for many.",
    "url": "https://hub.example.com",
    "preferredTransport": "JSONRPC",
    "version": "1.0.0",
    "iconUrl": "https://hub.example.com/icon.png",
    "capabilities": {"streaming": True, "extensions": [{"uri": "https://example.com/extension"}]},
    "defaultInputModes": ["text/plain", "application/pdf"],
    "defaultOutputModes": ["text/plain"],
    "skills": [
        {"id": "pm", "name": "Projects", "description": "Plans.", "tags": []},
        {"id": "docqa", "name": "Documents", "description": "Quotes.", "tags": ["documents"]},
    ],
    "securitySchemes": {
        "google": {
            "type": "oauth2",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": "https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&prompt=consent",
                    "tokenUrl": "https://oauth2.googleapis.com/token",
                    "scopes": {"openid": "Who you are", "email": "Your address"},
                }
            },
        }
    },
    "security": [{"google": ["openid", "email"]}],
}


def good_card() -> dict[str, Any]:
    """A card that breaks no rule, to be changed at will."""
    return copy.deepcopy(_CARD)
