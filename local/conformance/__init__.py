"""The hub as the conformance kits need it: docs/conformance.md says how they are run and what came of it."""
