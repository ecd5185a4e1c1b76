"""Answers without a model: quotes, asserted only where they settle the question."""
