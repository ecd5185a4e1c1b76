"""Readers: one file of bytes in, canonical text out."""
