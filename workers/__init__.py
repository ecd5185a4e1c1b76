"""Workers that pull the tasks of a role; `client.py` is all that one needs, and nothing but Python's standard library."""
