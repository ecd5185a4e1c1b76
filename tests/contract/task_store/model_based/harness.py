"""Where lives take place: two instances over the same data, the model beside them, and a clock that goes on when told."""

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.task_store.store import HUB, AlreadyRunning, StoreError
from tests.contract.task_store.model_based.model import Model
from tests.contract.task_store.model_based.model_push import ModelTask
from tests.contract.task_store.stores import Clock, Store

ROLES = [HUB, "developer", "reviewer"]
OWNERS = ["somebody", "somebody else"]
CONTEXTS = ["c", "d", ""]
STATES = [state for state in TaskState if state is not TaskState.UNSPECIFIED]
OPEN = [state for state in STATES if not state.terminal]
TIMES = [None, None, None, "2023-11-14T22:13:20.000Z", "2023-11-14T22:14:00.000Z", "2031-01-01T00:00:00.000Z"]
TEXTS = [*"abc", "long " * 500, "longer " * 8_000]
# What the clock goes on by never makes one of them another, so that no two leases end at the same moment.
SECONDS = [0.3, 10.7, 60.1]
_TICK_SECONDS = 0.25
_NOBODYS = 23

which = st.integers(0, 40)


class Stage(RuleBasedStateMachine):
    """`open_store` opens one more instance on the same data, which are new for each life."""

    def __init__(self, open_store: Callable[[], Store], clock: Clock, *, max_task_bytes: int) -> None:
        super().__init__()
        clock.stand_still()
        self.clock = clock
        self.model = Model(clock, max_task_bytes)
        self.ids = (f"task-{number}" for number in itertools.count())
        self.leases: dict[str, list[str]] = {}
        self._open = open_store
        self._stores = [open_store(), open_store()]
        self._ended: dict[str, list[Event]] = {}

    @property
    def store(self) -> Store:
        """The instance that is asked now."""
        return self._stores[0]

    def teardown(self) -> None:
        self.look_at_everything()
        for store in self._stores:
            store.close()

    @rule(seconds=st.sampled_from([1.0, 20.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.pass_by(seconds)

    @rule(dies=st.booleans())
    def the_other_instance_is_asked_from_now_on(self, dies: bool) -> None:
        if dies:
            self._stores[0].close()
            self._stores[0] = self._open()
        self._stores.reverse()
        self.look_at_everything()

    def look_at_everything(self) -> None:
        """Each instance has all that there is, for its owner alone, and nothing has followed an end."""
        for store, one in itertools.product(self._stores, self.model.kept):
            assert store.get(one.id, owner=one.owner) == one.stored()
            assert store.get(one.id, owner="a stranger") is None
            assert store.entries(one.id, after=0) == self.model.entries(one.id, after=0)
            assert store.configs(one.id) == self.model.configs(one.id)
        for one in self.model.kept:
            if one.state.terminal:
                assert self._ended.setdefault(one.id, list(one.log)) == one.log

    def forget(self, task_id: str) -> None:
        """The task is gone; there may be another one of its id."""
        self._ended.pop(task_id, None)
        self.leases.pop(task_id, None)

    def tick(self) -> None:
        """No two things happen at the same moment where their order counts."""
        self.clock.pass_by(_TICK_SECONDS)

    def both(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Return what the store says, which is what the model says; None for a refusal."""
        said = self.outcome(self.store, method, *arguments, **named)
        assert said == self.outcome(self.model, method, *arguments, **named)
        return None if isinstance(said, tuple) else said

    def outcome(self, of: Any, method: str, *arguments: Any, **named: Any) -> Any:
        """Return what it says; a refusal as a tuple."""
        try:
            return getattr(of, method)(*arguments, **named)
        except AlreadyRunning as running:
            return type(running), running.stored
        except StoreError as refusal:
            return type(refusal), str(refusal)

    def one(self, at: int) -> ModelTask | None:
        """One of the tasks."""
        kept = self.model.kept
        return kept[at % len(kept)] if kept else None

    def id_of(self, at: int) -> str:
        """The id of one of them, and now and then one that there is not."""
        one = self.one(at)
        return "unknown" if one is None or at == _NOBODYS else one.id
