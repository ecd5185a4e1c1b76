"""Labelled sets, and the programs that measure on them."""
