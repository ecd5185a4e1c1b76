"""`hubctl doctor`: the way from the operator's machine to the hub, and what the hub and its agents found."""
