"""Push notifications: every entry of a task's log, delivered to whoever asked to be told."""
