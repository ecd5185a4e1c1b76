"""Wake-ups: whoever may run a task is told that there is one (design §6). The task store is the truth; a lost one costs time."""
