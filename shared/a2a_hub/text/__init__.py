"""Text as people write it: one spelling, its language, quoted mail, follow-up questions."""
