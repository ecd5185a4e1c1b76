"""The route table, its rules, the router, and the agent card made from it."""
