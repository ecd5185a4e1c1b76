"""Workers that pull the tasks of a role, written against `client.py`: a folder to copy. All but `workspace` need only Python."""
