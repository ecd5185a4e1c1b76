"""Settings: reading them from an environment, and those that several functions share."""
