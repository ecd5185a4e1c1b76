"""The hub as the conformance kits need it: docs/conformance.md has the way to run them, and their results."""
