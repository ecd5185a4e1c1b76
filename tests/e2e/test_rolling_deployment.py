"""A rolling deployment under load: a new revision takes the traffic, the old one ends, and every request is answered."""

import http.client
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.long_running_agent import LongRunningAgent, answer_to
from tests.e2e.task_machine import FRONT, Json, Machine, ended, machine, message, text_of, ui_message

_CLIENTS, _DEPLOYMENTS = 9, 2
# Turns of three lengths: some end while an instance shuts down, and some do not.
_AGENT_SECONDS = 3.0
_BETWEEN_SECONDS = 4.0
_NOT_ANSWERED = (OSError, http.client.HTTPException, KeyError)


def test_no_request_is_without_an_answer_while_revisions_change(tmp_path: Path) -> None:
    with LongRunningAgent(seconds=_AGENT_SECONDS) as agent, machine(tmp_path, agent.url, hubs=2) as run:
        run.take_from_front("hub-2")
        run.terminate("hub-2")
        finished, numbers = threading.Event(), itertools.count()
        with ThreadPoolExecutor(_CLIENTS) as clients:
            asking = [clients.submit(_client, run, each, numbers, finished) for each in range(_CLIENTS)]
            try:
                for old, new in itertools.islice(
                    itertools.cycle((("hub-1", "hub-2"), ("hub-2", "hub-1"))), _DEPLOYMENTS
                ):
                    time.sleep(_BETWEEN_SECONDS)
                    run.start(new)
                    run.give_to_front(new)
                    run.take_from_front(old)
                    run.terminate(old)
                time.sleep(_BETWEEN_SECONDS)
            finally:
                finished.set()
            answered = sum(client.result() for client in asking)
        assert answered >= 2 * _CLIENTS
        # An agent that answers a plain send names no task before its answer, and is asked again with the same message id.
        assert {count for id_, count in agent.asked.items() if "stream" in id_} == {1}


def _client(run: Machine, number: int, numbers: Iterator[int], finished: threading.Event) -> int:
    """Ask one question after the other until all is over; return how many were answered."""
    ask = (_program, _stream, _person)[number % 3]
    answered = 0
    while not finished.is_set():
        question = f"agent {ask.__name__} {next(numbers)}"
        ask(run, question)
        answered += 1
    return answered


def _program(run: Machine, question: str) -> None:
    """A program that waits; if its instance ended first, the answer is a task that it polls."""
    task = run.call(FRONT, "SendMessage", message(question, question))["task"]
    assert text_of(ended(run, task["id"], hub=FRONT)) == answer_to(question)


def _stream(run: Machine, question: str) -> None:
    """A program with a stream, which names its task, comes to an end and can be resumed from."""
    events = list(run.events(FRONT, "SendStreamingMessage", message(question, question)))
    assert "statusUpdate" in events[-1], events
    assert text_of(ended(run, events[0]["task"]["id"], hub=FRONT)) == answer_to(question)


def _person(run: Machine, question: str) -> None:
    """A user interface reads one text; if that is not the answer, it is the sentence that asks to send the question again."""
    texts = []
    for _ in range(2):
        try:
            texts.append(_text(run.call(FRONT, "message/send", ui_message(question, question))))
        except _NOT_ANSWERED as problem:
            raise AssertionError(f"nobody answered {question!r}: {problem!r}") from problem
        if texts[-1] == answer_to(question):
            return
    raise AssertionError(texts)


def _text(answer: Json) -> str:
    text = text_of(answer)
    assert text
    return text
