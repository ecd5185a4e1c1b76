"""What those do to tasks who want something of them: clients, and the hub that speaks for them."""

import contextlib
import functools

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from a2a_hub.a2a.model import (
    Event,
    Message,
    Part,
    Role,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a_hub.task_store.store import NewTask, Position, StoredTask, TaskQuery
from a2a_hub.tasks.subscription import OpenStreams, TaskSubscription
from tests.contract.task_store.model_based.harness import (
    CONTEXTS,
    OPEN,
    OWNERS,
    ROLES,
    SECONDS,
    STATES,
    TEXTS,
    TIMES,
    Stage,
    which,
)
from tests.contract.task_store.stores import a_task, status, webhook
from tests.fakes.task_instance import until

owners = st.sampled_from(OWNERS)
contexts = st.sampled_from(CONTEXTS)


class Follower:
    """Somebody who watches a task from behind an entry of its log on, and what they have seen."""

    def __init__(self, following: TaskSubscription, task_id: str, after: int, *, ends_when_waiting: bool) -> None:
        self.following, self.task_id, self.after = following, task_id, after
        self.ends_when_waiting = ends_when_waiting
        self.seen: list[Event] = []

    def look(self) -> None:
        """Take the entries noticed so far: those of another instance are noticed a moment later."""
        with contextlib.suppress(StopIteration):
            while (event := self.following.poll()) is not None:
                self.seen.append(event)

    def has_seen(self, expected: list[Event]) -> bool:
        """Look, and tell if this is all that has been seen."""
        self.look()
        assert self.seen == expected[: len(self.seen)]
        return len(self.seen) == len(expected)

    def ought_to_see(self, log: list[Event]) -> list[Event]:
        """Every update in its order, to the end of the turn or of the task."""
        shown: list[Event] = []
        for event in log[self.after :]:
            if isinstance(event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
                shown.append(event)
            if isinstance(event, TaskStatusUpdateEvent):
                state = event.status.state
                if state.terminal or (self.ends_when_waiting and state.interrupted):
                    break
        return shown


class Callers(Stage):
    """Their part of a life."""

    _followers: list[Follower]
    _pages: list[tuple[str, TaskQuery, Position]]

    @initialize()
    def some_tasks_are_there(self) -> None:
        self._followers, self._pages = [], []
        for owner, role in zip([*OWNERS, *OWNERS], ["", *ROLES], strict=True):
            self.tick()
            self._create(NewTask(task=a_task(id_=next(self.ids)), owner=owner, role=role))

    def _create(self, new: NewTask) -> bool:
        made = self.outcome(self.store, "create", new)
        self.model.new_number = made.number if isinstance(made, StoredTask) else 0
        assert made == self.outcome(self.model, "create", new)
        return isinstance(made, StoredTask)

    @rule(
        owner=owners,
        context_id=contexts,
        state=st.sampled_from([*OPEN, *OPEN, *STATES]),
        role=st.sampled_from(ROLES),
        request_key=st.sampled_from(["", "k", "l"]),
        timestamp=st.sampled_from(TIMES),
        text=st.sampled_from(TEXTS),
        leased=st.booleans(),
        pushed=st.booleans(),
        known_id=st.none() | st.none() | which,
    )
    def create(
        self,
        *,
        owner: str,
        context_id: str,
        state: TaskState,
        role: str,
        request_key: str,
        timestamp: str | None,
        text: str,
        leased: bool,
        pushed: bool,
        known_id: int | None,
    ) -> None:
        id_ = next(self.ids) if known_id is None else self.id_of(known_id)
        task = a_task(id_=id_, context_id=context_id, state=state, timestamp=timestamp, text=text)
        lease = f"lease of {id_}" if leased and not state.settled else ""
        self.tick()
        new = NewTask(
            task=task,
            owner=owner,
            role=role,
            payload=text.encode(),
            request_key=request_key,
            lease=lease,
            lease_seconds=SECONDS[1],
            push=webhook(id_) if pushed else None,
        )
        if self._create(new) and lease:
            self.leases[id_] = [lease]

    @rule(at=which, state=st.sampled_from(OPEN[:2]), text=st.sampled_from(TEXTS), pushed=st.booleans())
    def answer(self, *, at: int, state: TaskState, text: str, pushed: bool) -> None:
        waiting = [one for one in self.model.kept if one.state.interrupted]
        if not waiting:
            return
        one = waiting[at % len(waiting)]
        said = Message(message_id="m", role=Role.USER, parts=(Part(text=text),), task_id=one.id)
        self.both(
            "append",
            one.id,
            [status(one.id, state), said],
            expected_version=len(one.log),
            payload=text.encode(),
            request_key=f"answer {len(one.log)} to {one.id}",
            push=webhook(one.id, "q", token=text[:10]) if pushed else None,
        )

    @rule(at=which, version=st.sampled_from([-1, 0, 0]))
    def cancel(self, at: int, version: int) -> None:
        one = self.one(at)
        if one is None:
            return
        canceled = status(one.id, TaskState.CANCELED)
        if self.both("append", one.id, [canceled], expected_version=len(one.log) + version) is None:
            self.both("request_cancel", one.id)

    @rule(
        at=which,
        owner=st.sampled_from([*OWNERS, None]),
        after=st.integers(-1, 12),
        limit=st.sampled_from([1, 3, 1000]),
    )
    def look_at_one(self, *, at: int, owner: str | None, after: int, limit: int) -> None:
        self.both("get", self.id_of(at), owner=owner)
        self.both("entries", self.id_of(at), after=max(0, after), limit=limit)
        self.both("wait", self.id_of(at), after=max(0, after), timeout_seconds=0)

    @rule(owner=owners, number=st.integers(0, 6), context_id=contexts, key=st.sampled_from(["k", "l", ""]))
    def look_for_one(self, *, owner: str, number: int, context_id: str, key: str) -> None:
        self.both("numbered", owner, number)
        self.both("waiting", owner, context_id)
        self.both("running", owner, key)
        self.both("usage", owner)

    @rule(
        owner=owners,
        context_id=st.none() | contexts,
        states=st.lists(st.sampled_from(STATES), unique=True, max_size=3),
        since=st.none() | st.none() | st.sampled_from([-100.0, -1.0, 0.0, 1.0]),
        size=st.integers(1, 4),
    )
    def list_them(
        self, *, owner: str, context_id: str | None, states: list[TaskState], since: float | None, size: int
    ) -> None:
        newer = None if since is None else self.clock() + since
        query = TaskQuery(context_id=context_id, states=tuple(states), updated_since=newer)
        self._page(owner, query, size, None)

    @precondition(lambda self: self._pages)
    @rule(at=which, size=st.integers(1, 4))
    def turn_a_page(self, at: int, size: int) -> None:
        owner, query, after = self._pages.pop(at % len(self._pages))
        self._page(owner, query, size, after)

    def _page(self, owner: str, query: TaskQuery, size: int, after: Position | None) -> None:
        page = self.both("list", owner, query, size=size, after=after)
        assert all(stored.owner == owner for stored in page.tasks)
        if page.next:
            self._pages.append((owner, query, page.next))

    @rule(at=which, after=st.integers(0, 12), ends_when_waiting=st.booleans())
    def follow(self, at: int, after: int, ends_when_waiting: bool) -> None:
        one = self.one(at)
        if one and after <= len(one.log):
            following = TaskSubscription(
                self.store,
                a_task(id_=one.id),
                after=after,
                ends_when_waiting=ends_when_waiting,
                streams=OpenStreams(),
                shows_task=False,
            )
            self._followers.append(Follower(following, one.id, after, ends_when_waiting=ends_when_waiting))

    @precondition(lambda self: self._followers)
    @rule()
    def all_who_follow_look(self) -> None:
        for follower in self._followers:
            one = self.model.find(follower.task_id)
            if one:
                # What another instance wrote comes a moment later.
                until(functools.partial(follower.has_seen, follower.ought_to_see(one.log)))

    def forget(self, task_id: str) -> None:
        super().forget(task_id)
        self._followers = [follower for follower in self._followers if follower.task_id != task_id]
