"""The function that manages stored tasks: resumes them on the hub, delivers webhooks, and leases them to workers."""
