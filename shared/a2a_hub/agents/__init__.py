"""The parts of an agent behind the hub: its function, settings, knowledge, conversation, composed answers."""
