"""The hub's registration in Gemini Enterprise: Discovery Engine API, v1alpha."""
