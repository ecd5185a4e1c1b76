"""Wake-ups: whoever may run a task is told that there is one. The task store is the truth; a lost one costs time."""
