"""TOML files with all errors reported at once, each with its line."""
