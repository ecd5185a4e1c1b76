"""The commands of hubctl, one module each: `HELP`, `add_arguments` and `run` (see `hubctl.main`)."""
