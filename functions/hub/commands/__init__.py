"""The commands that people type: those of the hub (/tasks, /help, …) and those of the agents behind it."""
