"""Answers that rest on quotes: the evidence, and the checks of each sentence against it."""
