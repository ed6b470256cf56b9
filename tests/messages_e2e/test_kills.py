"""The server is killed again and again while it works, and the call repeated. Nothing is lost. Only messages whose
outcome the server could not know are there twice, with the same id.

A seed decides how far the work has come when it is killed: CRASH_SEED repeats a run, as far as two machines can be the same.
"""

import collections
import http.client
import os
import random
import threading
import time

import pytest

from message_server import consumed, new_key
from payloads import in_the_future, payload
from waiting import eventually

FLAGS = ["--messages-lease", "1s", "--queue-lease", "5s", "--log-level", "warning"]
DEADLINE_SECONDS = 120
KILLS = 6


@pytest.fixture
def chance():
    seed = int(os.environ.get("CRASH_SEED") or time.time_ns() % 2**32)
    print(f"\nCRASH_SEED={seed}")
    return random.Random(seed)


class Caller(threading.Thread):
    """Makes calls, each until it is answered, on whatever server there is."""

    def __init__(self, calls):
        super().__init__(daemon=True)
        self.calls, self.answers = calls, []
        self.changed = threading.Condition()
        self.server = self.failure = None
        self.unanswered = 0

    def use(self, server):
        with self.changed:
            self.server = server
            self.changed.notify()

    def run(self):
        try:
            for call in self.calls:
                self.answers.append(self.insist(call))
        except BaseException as error:  # shown by the test
            self.failure = error

    def insist(self, call):
        end = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < end:
            with self.changed:
                assert self.changed.wait_for(lambda: self.server is not None, DEADLINE_SECONDS)
                server = self.server
            try:
                answer = call(server.rest(patience=DEADLINE_SECONDS))
            except (OSError, http.client.HTTPException):
                self.unanswered += 1
                with self.changed:
                    if self.server is server:
                        self.server = None
                continue
            if answer.status == 200:
                return answer
            # A call that was cut off keeps its key for as long as its lease lasts.
            assert answer.status == 409 and answer.json["code"] == "IDEMPOTENCY_KEY_IN_PROGRESS", answer.body
        raise AssertionError("no answer in time")


def kill_until_done(start, caller, chance, kills, progress, total):
    """Kills servers in the middle of their work, and lets the last one live until everything is done. The work is cut
    into equal parts; each server is killed at a random point of its part. Returns the last one."""
    caller.start()
    for life in range(kills):
        server = start(*FLAGS)
        caller.use(server)
        enough = int(total * chance.uniform(life, life + 1) / (kills + 1))
        eventually(lambda: progress(server) >= enough or not caller.is_alive(), "some progress", DEADLINE_SECONDS)
        server.kill()
    server = start(*FLAGS)
    caller.use(server)
    caller.join(DEADLINE_SECONDS)
    assert caller.failure is None, caller.failure
    assert not caller.is_alive(), "it is not done in time"
    return server


class TestProduce:
    COUNT, WINDOW, CONNECTIONS = 30_000, 200, 2

    def test_nothing_is_lost_and_only_the_unconfirmed_is_there_twice(self, start, queue, chance):
        key = new_key()
        settings = {"totalMessages": self.COUNT, "batchSize": self.WINDOW, "concurrency": self.CONNECTIONS}
        caller = Caller([lambda rest: queue.produce(rest, ["x" * 100], key=key, **settings)])
        server = kill_until_done(start, caller, chance, KILLS, lambda server: queue.depth(server.rest()), self.COUNT)
        (answer,) = caller.answers
        assert answer.json["processedMessages"] == self.COUNT
        found = queue.take_ids(server.rest())
        doubled = sum(count - 1 for count in found.values())
        print(f"{queue.place}: {caller.unanswered} calls cut off, {doubled} messages there twice: {answer.json['metadata']}")
        assert {identifier.rpartition("-")[0] for identifier in found} == {answer.json["metadata"]["firstMessageId"][:-2]}
        positions = {int(identifier.rpartition("-")[2]) for identifier in found}
        assert positions == set(range(self.COUNT)), "none is lost, and there are no others"
        assert doubled <= caller.unanswered * self.WINDOW * self.CONNECTIONS * 2
        assert caller.unanswered > 0, "the kills hit the call"
        again = queue.produce(server.rest(), ["x" * 100], key=key, **settings)
        assert again.headers["idempotent-replayed"] == "true" and again.body == answer.body
        assert queue.depth(server.rest()) == 0


class TestConsume:
    COUNT, EACH = 6_000, 100

    def test_nothing_is_lost(self, start, queue, chance):
        server = start(*FLAGS)
        produced = queue.produce(server.rest(), ["x"], totalMessages=self.COUNT)
        assert produced.status == 200
        server.kill()

        keys = [new_key() for _ in range(self.COUNT // self.EACH)]
        settings = {"maxMessages": self.EACH, "waitTimeout": "PT1S"}
        calls = [lambda rest, key=key: queue.consume(rest, key=key, **settings) for key in keys]
        caller = Caller(calls)
        server = kill_until_done(start, caller, chance, KILLS, lambda _: len(caller.answers), len(calls))
        rest = server.rest()
        got = collections.Counter(each["messageId"] for answer in caller.answers for each in consumed(answer))
        # What dead receivers of the embedded queues held comes back when their leases end.
        left = self.drain(rest, queue, set(got))
        doubled = sum(got.values()) - len(got)
        print(f"{queue.place}: {caller.unanswered} calls cut off, {doubled} messages got twice, {len(left)} got later")
        assert {int(each.rpartition("-")[2]) for each in set(got) | left} == set(range(self.COUNT)), "none is lost"
        assert doubled <= caller.unanswered * self.EACH
        for key, answer in zip(keys, caller.answers):
            again = queue.consume(rest, key=key, **settings)
            assert again.body == answer.body and again.headers["idempotent-replayed"] == "true"

    def drain(self, rest, queue, got):
        """What is left in the queue, as soon as nothing is missing."""
        left = set()
        end = time.monotonic() + DEADLINE_SECONDS
        while len(got | left) < self.COUNT and time.monotonic() < end:
            left |= {each["messageId"] for each in consumed(queue.consume(rest, maxMessages=10_000, waitTimeout="PT1S"))}
        return left


def test_other_posts_are_made_once(start, chance):
    """A change whose answer was lost is not refused when it is repeated."""
    server = start(*FLAGS)
    identifiers = server.rest().accept(*[payload(send_at=in_the_future()) for _ in range(60)])
    server.kill()
    held = []

    def hold(rest, identifier):
        answer = rest.post(f"/emails/{identifier}/hold", headers={"Idempotency-Key": identifier})
        if answer.status == 204:
            held.append(identifier)
            answer.status = 200
        return answer

    caller = Caller([lambda rest, each=each: hold(rest, each) for each in identifiers])
    server = kill_until_done(start, caller, chance, 3, lambda _: len(held), len(identifiers))
    assert held == identifiers
    assert server.rest().counts()["HELD"] == 60
