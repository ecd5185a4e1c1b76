"""What all tests share."""

from hypothesis import settings

# A busy machine is no reason to fail: time is for benchmarks.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
