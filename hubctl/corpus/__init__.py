"""The documents of a bucket and of a Discovery Engine data store, kept in step with a folder."""
