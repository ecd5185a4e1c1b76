"""A worker on one person's Google Workspace; they confirm everything that affects others (docs/workspace-worker.md)."""
