"""What an agent behind the hub is made of: its function, its settings, and how it finds and phrases what it knows."""
