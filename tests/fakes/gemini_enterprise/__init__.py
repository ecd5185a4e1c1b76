"""A stand-in for the parts of Gemini Enterprise and Google OAuth that a registration meets, over HTTP.

Each of Google's hosts is the first segment of the path: http://127.0.0.1:PORT/us-discoveryengine.googleapis.com/v1alpha/…
Its behaviour is that of docs/gemini-enterprise.md; where reports conflict, the module that decides says so.
"""
