"""From the bytes of a file to the passages and units that may be quoted."""
