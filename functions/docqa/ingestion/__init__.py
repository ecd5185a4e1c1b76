"""Bytes of files to documents: sections, units, editions."""
