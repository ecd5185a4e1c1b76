"""HTTP, as every adapter serves it."""
