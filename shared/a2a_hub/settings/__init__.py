"""Settings: the reader, and the settings that several functions share."""
