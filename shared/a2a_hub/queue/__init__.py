"""Wake-ups: hints that a task is due. The task store is the truth; a lost wake-up only costs time."""
