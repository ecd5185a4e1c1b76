"""Structured logs and trace context."""
