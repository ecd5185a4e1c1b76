"""What a text asks for: commands with a slash, and the sentences in which people say the same."""
