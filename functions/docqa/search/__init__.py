"""The index of a corpus, and the passages that it finds for a question."""
