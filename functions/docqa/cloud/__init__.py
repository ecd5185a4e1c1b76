"""Document QA on Google Cloud: found by Discovery Engine, read from Cloud Storage, answered like the embedded corpus."""
