"""Asking a running hub."""
