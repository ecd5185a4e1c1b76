"""A worker for Google Workspace: Gemini, by Google's Agent Development Kit, reads Drive, Docs, Gmail and Calendar for one person.

What leaves the house is confirmed by that person first (docs/workspace-worker.md).
"""
