"""Pull workers, built on `client.py`, which is one file to copy. All but `workspace` need only Python."""
