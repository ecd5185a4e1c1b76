"""Text as people write it: one spelling, its language, what is quoted, what follows on an earlier turn."""
