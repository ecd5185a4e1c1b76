"""The commands of hubctl, one module each, with the two functions of `hubctl.main.Command`."""
