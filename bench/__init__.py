"""Measurements: `make bench` prints medians, ratios and targets, and asserts nothing."""
