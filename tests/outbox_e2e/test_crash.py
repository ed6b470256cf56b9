"""The server is killed again and again while it works. Nothing that was accepted is lost. Only e-mails whose outcome
the server could not know are sent twice, and their record tells so.

A seed decides how far the work has come when it is killed: CRASH_SEED repeats a run, as far as two machines can be the same.
"""

import collections
import http.client
import os
import random
import threading
import time
import uuid

from callback_server import CallbackServer
from legal_history import all_emails, check_history, count_unknown
from payloads import payload
from recording_smtp import RecordingSmtp, read_log
from waiting import eventually

EMAILS = 2_000
BATCH = 25  # is one commit: a larger one that is cut off keeps its key for a while
KILLS = 10
MOST_BETWEEN_KILLS = EMAILS // KILLS - 20  # so that there is work left for each server
CONNECTIONS, CLAIMED = 16, 25
DEADLINE_SECONDS = 150
FLAGS = ["--smtp-connections", CONNECTIONS, "--batch", CLAIMED]
FLAGS += ["--lease", "1s", "--retry-first", "100ms", "--retry-longest", "200ms", "--callback-retry-first", "100ms"]
FLAGS += ["--max-rescues", "1000", "--callback-attempts", "1000", "--callback-allow-private", "--log-level", "warning"]


class Submitter(threading.Thread):
    """Hands in all batches, each until it is answered; the key makes a repeat the same request."""

    def __init__(self, listener):
        super().__init__(daemon=True)
        self.listener = listener
        self.server = None
        self.changed = threading.Condition()
        self.accepted = []
        self.unanswered = 0
        self.failure = None

    def use(self, server):
        with self.changed:
            self.server = server
            self.changed.notify()

    def run(self):
        try:
            for number in range(EMAILS // BATCH):
                self.hand_in(number)
        except BaseException as error:  # shown by the test
            self.failure = error

    def hand_in(self, number):
        batch = [
            payload(id=str(uuid.uuid4()), subject=f"Number {number * BATCH + each}", callback_url=self.listener.url)
            for each in range(BATCH)
        ]
        while True:
            with self.changed:
                assert self.changed.wait_for(lambda: self.server is not None, DEADLINE_SECONDS)
                server = self.server
            try:
                answer = server.rest().post("/emails", {"data": batch}, {"Idempotency-Key": f"batch-{number}"})
            except (OSError, http.client.HTTPException):
                self.unanswered += 1
                with self.changed:
                    if self.server is server:
                        self.server = None
                continue
            if answer.status in (409, 503):  # the one before, which was cut off, is still being worked on
                continue
            assert answer.status == 201, answer
            assert [result["id"] for result in answer.json["results"]] == [each["id"] for each in batch]
            self.accepted += [each["id"] for each in batch]
            return


def is_done(rest):
    return rest.counts()["SENT-ACKNOWLEDGED"] == EMAILS


def await_arrivals(recorder, count, submitter):
    eventually(lambda: len(recorder.arrived) >= count or submitter.failure, f"{count} e-mails", DEADLINE_SECONDS)
    assert submitter.failure is None, submitter.failure


def kill_until_done(start, recorder, chance, submitter):
    """Kills each server when it has sent a random number of e-mails, and the relay keeps back the replies to the last
    ones: that is the time in which no server knows their outcome. The last server finishes the work."""
    for _ in range(KILLS):
        server = start("--smtp", recorder.address, *FLAGS)
        submitter.use(server)
        await_arrivals(recorder, len(recorder.arrived) + chance.randrange(MOST_BETWEEN_KILLS), submitter)
        # Counted before the gate is shut: behind it only one more arrives on each connection.
        held_back = len(recorder.arrived) + chance.randrange(CONNECTIONS // 2)
        recorder.gates["."] = threading.Event()
        await_arrivals(recorder, held_back, submitter)
        server.kill()
        recorder.gates.pop(".").set()
    server = start("--smtp", recorder.address, *FLAGS)
    submitter.use(server)
    submitter.join(DEADLINE_SECONDS)
    assert submitter.failure is None, submitter.failure
    rest = server.rest()
    eventually(lambda: is_done(rest), "the end of all e-mails", DEADLINE_SECONDS)
    return server


def test_nothing_is_lost_and_only_the_unknown_is_sent_twice(start, directory):
    seed = int(os.environ.get("CRASH_SEED") or time.time_ns() % 2**32)
    print(f"\nCRASH_SEED={seed}")
    chance = random.Random(seed)
    log = directory / "smtp.log"
    began = time.monotonic()
    with RecordingSmtp(log) as recorder, CallbackServer() as listener:
        submitter = Submitter(listener)
        submitter.start()
        server = kill_until_done(start, recorder, chance, submitter)
        rest = server.rest()
        emails = all_emails(rest)
        calls = listener.calls
        assert server.stop() == 0

    accepted = set(submitter.accepted)
    arrived, acknowledged = (collections.Counter(ids) for ids in read_log(log))
    assert len(accepted) == EMAILS
    assert {email["id"] for email in emails} == accepted and len(emails) == EMAILS, "each has one record"
    unknown = {email["id"]: count_unknown(email) for email in emails}
    rescues = sum("rescued" in line["reason"] for email in emails for line in email["history"])
    twice = {identifier for identifier, count in arrived.items() if count > 1}
    print(
        f"{EMAILS} e-mails, {KILLS} kills, {submitter.unanswered} requests cut off, {rescues} rescues, "
        f"{sum(unknown.values())} outcomes unknown, {len(twice)} arrived more than once, "
        f"{len(calls)} callbacks, {time.monotonic() - began:.1f} s"
    )

    for email in emails:
        check_history(email)
        states = [line["status"] for line in email["history"]]
        assert states.count("SENT-ACKNOWLEDGED") == 1 and states[-1] == "SENT-ACKNOWLEDGED", email
        assert "FAILED" not in states and "INVALID" not in states, email
    assert set(arrived) == accepted, "all that was accepted arrived, and nothing else"
    assert all(acknowledged[identifier] >= 1 for identifier in accepted)
    for identifier, count in arrived.items():
        assert count <= 1 + unknown[identifier], (identifier, count)
    # At a kill a server has claimed at most one batch more than two e-mails for each connection.
    assert sum(arrived.values()) - EMAILS <= KILLS * (2 * CONNECTIONS + CLAIMED)
    assert rescues > 0, "the kills hit work in flight"

    events = collections.defaultdict(set)
    for call in calls:
        events[call.json["message_ids"][0]].add((call.id, call.body))
    assert set(events) == accepted, "each caller was told"
    assert all(len(told) == 1 for told in events.values()), "and, however often, the same"
