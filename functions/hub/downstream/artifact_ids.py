"""Ids of the artifacts that an agent's task has: the agent's own, unless a turn is run again by another task of the agent's."""

from __future__ import annotations

from itertools import count
from typing import Any

from a2a_hub.a2a.call import TaskInHand

_NOTE = "artifacts"
# Notes are stored again with each event, and so stay small. Artifacts beyond these are not noted, nor replaced by a second run.
_MOST_NOTED = 200


class ArtifactIds:
    """Notes with the task in hand which ids were given. Where its turn is run again by another task of the agent's, the
    artifacts take the ids of those that the run before has left, in their order: they replace them, instead of lying beside them.
    """

    def __init__(self, task: TaskInHand | None) -> None:
        self._turn = task.turn if task else 1
        self._notes: dict[str, Any] = task.notes if task else {}
        self._agents_task: str | None = None
        self._ids: dict[str, list[Any]] = {}
        self._given: set[str] = set()
        self._left: list[str] = []

    def of(self, agents_task: str, artifact_id: str) -> str:
        """The id under which the artifact of the agent's task is passed on."""
        if agents_task != self._agents_task:
            self._enter(agents_task)
        known = self._ids.get(artifact_id)
        if known is None:
            known = self._ids[artifact_id] = [self._new(artifact_id), self._turn]
            self._given.add(known[0])
            if len(self._ids) <= _MOST_NOTED:
                # A copy, since another thread may be storing the notes.
                self._notes[_NOTE] = {"task": agents_task, "ids": dict(self._ids)}
        return str(known[0])

    def _new(self, artifact_id: str) -> str:
        if artifact_id in self._left:
            self._left.remove(artifact_id)
            return artifact_id
        if self._left:
            return self._left.pop(0)
        if artifact_id not in self._given:
            return artifact_id
        free = (f"{artifact_id}-{number}" for number in count(2))
        return next(each for each in free if each not in self._given)

    def _enter(self, agents_task: str) -> None:
        noted = self._notes.get(_NOTE) or {"task": agents_task, "ids": {}}
        self._agents_task = agents_task
        if noted["task"] == agents_task:
            self._ids, self._left = dict(noted["ids"]), []
        else:
            self._ids = {}
            self._left = [given for given, turn in noted["ids"].values() if turn == self._turn]
        self._given = {given for given, _ in self._ids.values()}
