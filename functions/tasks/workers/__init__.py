"""What workers elsewhere fetch their work with, and what becomes of what they report."""
