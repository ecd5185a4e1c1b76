"""What those do to tasks who work on them, sweep up behind them, and tell others of them."""

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.task_store.store import Delivery, Lease
from tests.contract.task_store.model_based.harness import (
    OPEN,
    ROLES,
    SECONDS,
    STATES,
    TEXTS,
    TIMES,
    Stage,
    which,
)
from tests.contract.task_store.model_based.model_push import ModelTask
from tests.contract.task_store.stores import chunk, status, webhook

seconds_leased = st.sampled_from(SECONDS)
some_roles = st.just(ROLES) | st.lists(st.sampled_from(ROLES), unique=True, max_size=3)


class Workers(Stage):
    """Their part of a life."""

    _deliveries: list[Delivery]

    @initialize()
    def nobody_has_been_told(self) -> None:
        self._deliveries = []

    @rule(roles=some_roles, at=st.none() | which, seconds=seconds_leased)
    def lease(self, roles: list[str], at: int | None, seconds: float) -> None:
        self.tick()
        asked = {"seconds": seconds, "roles": roles, "task_id": None if at is None else self.id_of(at)}
        given = self.outcome(self.store, "lease", "worker", **asked)
        if isinstance(given, Lease):
            self.model.new_token = given.token
            self.leases.setdefault(given.stored.task.id, []).append(given.token)
        assert given == self.outcome(self.model, "lease", "worker", **asked)

    @rule(roles=st.none() | some_roles, limit=st.sampled_from([1, 2, 100]))
    def look_for_work(self, roles: list[str] | None, limit: int) -> None:
        self.both("due", roles, limit=limit)
        self.both("next_due", roles)

    @rule(
        at=which,
        kinds=st.lists(st.sampled_from("sa"), max_size=3),
        state=st.sampled_from([*OPEN, *STATES]),
        timestamp=st.sampled_from(TIMES),
        text=st.sampled_from(TEXTS),
        payload=st.none() | st.sampled_from([b"", b"work", b"w" * 1000]),
    )
    def whoever_may_write_writes(
        self,
        *,
        at: int,
        kinds: list[str],
        state: TaskState,
        timestamp: str | None,
        text: str,
        payload: bytes | None,
    ) -> None:
        one = self.one(at)
        if one is None or one.state.interrupted:
            return
        events: list[Event] = [
            status(one.id, state, said=text, timestamp=timestamp)
            if kind == "s"
            else chunk(one.id, text, append=len(text) % 2 == 0, artifact_id=text[0])
            for kind in kinds
        ]
        self.both(
            "append",
            one.id,
            events,
            lease=one.token if one.lease_until > self.clock() else None,
            payload=payload,
        )

    @rule(
        at=which,
        state=st.sampled_from([TaskState.INPUT_REQUIRED, TaskState.INPUT_REQUIRED, TaskState.FAILED]),
        repeats=st.sampled_from([0.0, 0.0, 30.0]),
    )
    def the_turn_ends(self, at: int, state: TaskState, repeats: float) -> None:
        one = self._begun(at)
        if one and one.token:
            repeat_until = self.clock() + repeats if repeats else 0.0
            self.both("append", one.id, [status(one.id, state)], lease=one.token, repeat_until=repeat_until)

    @rule(at=which, lease=which, text=st.sampled_from(TEXTS), version=st.sampled_from([None, -1, 0, 1]))
    def somebody_writes(self, *, at: int, lease: int, text: str, version: int | None) -> None:
        one = self.one(at)
        if one:
            expected = None if version is None else len(one.log) + version
            self.both(
                "append",
                one.id,
                [chunk(one.id, text)],
                lease=self._token(one, lease),
                expected_version=expected,
            )

    @rule(at=which, lease=which, seconds=seconds_leased)
    def renew(self, at: int, lease: int, seconds: float) -> None:
        one = self._begun(at)
        if one:
            self.tick()
            self.both("renew", one.id, self._token(one, lease), seconds=seconds)

    @rule(at=which, lease=which, defers=st.none() | st.sampled_from([0.5, 31.3]))
    def release(self, at: int, lease: int, defers: float | None) -> None:
        one = self._begun(at)
        if one:
            self.tick()
            due_at = None if defers is None else self.clock() + defers
            self.both("release", one.id, self._token(one, lease), due_at=due_at)

    @precondition(lambda self: len(self.model.kept) > 5)
    @rule(seconds=st.sampled_from([0.0, 30.0, 200.0]))
    def purge(self, seconds: float) -> None:
        before = {one.id for one in self.model.kept}
        self.both("purge", ended_before=self.clock() - seconds, limit=1000)
        for id_ in before - {one.id for one in self.model.kept}:
            self.forget(id_)

    @rule(at=which, config_id=st.sampled_from("pq"), token=st.sampled_from("xy"), delivered=st.integers(0, 3))
    def put_config(self, *, at: int, config_id: str, token: str, delivered: int) -> None:
        id_ = self.id_of(at)
        most = len(self.model.entries(id_, after=0))
        self.both("put_config", webhook(id_, config_id, token=token), delivered=min(delivered, most))

    @rule(at=which, config_id=st.sampled_from("pq"))
    def delete_config(self, at: int, config_id: str) -> None:
        self.both("delete_config", self.id_of(at), config_id)

    @rule()
    def look_for_deliveries(self) -> None:
        found = self.store.due_deliveries(limit=1000)
        assert sorted(found, key=repr) == sorted(self.model.due_deliveries(limit=1000), key=repr)
        self._deliveries += found

    @precondition(lambda self: self._deliveries)
    @rule(
        at=which,
        delivered=st.integers(0, 2),
        failures=st.integers(0, 1),
        pause=st.sampled_from([0.0, 30.0]),
        dead=st.sampled_from(["", "", "", "gone"]),
        dies=st.booleans(),
    )
    def deliver(self, *, at: int, delivered: int, failures: int, pause: float, dead: str, dies: bool) -> None:
        delivery = self._deliveries[at % len(self._deliveries)]
        if self.both("claim_delivery", delivery, seconds=5.0):
            most = len(self.model.entries(delivery.push.config.task_id or "", after=0))
            after = msgspec.structs.replace(
                delivery,
                delivered=min(delivery.delivered + delivered, most),
                failures=failures,
                next_attempt_at=self.clock() + pause,
                dead=dead,
            )
            self._deliveries.append(after)
            if not dies:
                self.both("save_delivery", after)

    @precondition(lambda self: self._deliveries)
    @rule(at=which)
    def save_late(self, at: int) -> None:
        self.both("save_delivery", self._deliveries[at % len(self._deliveries)])

    def _begun(self, at: int) -> ModelTask | None:
        """One of those that somebody has, or had until now; else any."""
        held = [one for one in self.model.kept if one.token]
        return held[at % len(held)] if held else self.one(at)

    def _token(self, one: ModelTask, lease: int) -> str:
        """One of those that were given out, and now and then one that was not."""
        given = ["guessed", *self.leases.get(one.id, [])]
        return given[-1 - lease % len(given)]
