"""Push notifications: every entry of a task's log, delivered to the registered receivers."""
