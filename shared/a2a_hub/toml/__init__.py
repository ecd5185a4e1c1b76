"""TOML with every mistake told at once, and the line on which it stands."""
