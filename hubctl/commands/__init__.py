"""The commands of hubctl, one module each: `run` writes to `out` and returns the exit status. commands.toml has the arguments."""
