"""Logs and trace context."""
