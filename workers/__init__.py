"""Workers that pull the tasks of a role, written against `client.py`: a folder to copy, which needs nothing but Python."""
