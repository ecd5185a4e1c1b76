"""Authentication: tokens and headers in, principals out; and this function's own tokens."""
