"""Gemini on Vertex AI, for the functions that may use a language model (docs/decisions/general-model.md)."""
