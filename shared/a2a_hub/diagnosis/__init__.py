"""Self-examination of a function (`GET /doctor`)."""
