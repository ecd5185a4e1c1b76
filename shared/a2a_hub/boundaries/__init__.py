"""The boundaries between the hub and its agents (docs/boundaries.md): one file per kind, listed in `registry.py`."""
