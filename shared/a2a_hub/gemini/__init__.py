"""Gemini models on Vertex AI."""
