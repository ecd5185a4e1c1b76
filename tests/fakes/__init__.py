"""Small real servers that stand in for what the hub talks to."""
