"""What an agent with a task store does with tasks: starts, keeps, shows, continues and cancels them."""
