"""The function that looks after stored tasks: has them run again, delivers webhooks, and lets workers fetch theirs."""
