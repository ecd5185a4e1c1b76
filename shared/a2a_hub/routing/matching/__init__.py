"""Which words and patterns of a route table stand in a text, in a time that hardly grows with the table."""
