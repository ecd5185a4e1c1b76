"""Calls to a route's agent: guard, transport, and the translation of its events."""
