"""What lies between the hub and an agent, one file per kind (docs/boundaries.md); `registry.py` lists the kinds."""
