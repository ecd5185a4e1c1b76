"""The verifier's labelled sentences: faithful ones, and ones that were corrupted in a known way."""
