"""A worker for Google Workspace: Gemini, by Google's Agent Development Kit, reads Drive, Docs, Gmail and Calendar for one person.

The person confirms everything that affects others (docs/workspace-worker.md).
"""
