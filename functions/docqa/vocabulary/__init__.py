"""Words: their normal form, their stems, and which of them mean the same."""
