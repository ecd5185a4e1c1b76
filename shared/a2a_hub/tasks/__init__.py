"""The tasks of an agent with a task store: started, stored, shown, resumed and cancelled."""
