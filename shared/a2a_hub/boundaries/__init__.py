"""The boundaries between the hub and its agents (docs/boundaries.md): their kinds are in `kinds.py`."""
