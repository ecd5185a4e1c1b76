"""Asking a route's agent, and hearing it out, whatever goes wrong on the way."""
