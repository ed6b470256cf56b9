"""Servers whose store is behind a bad network, and is itself unwell: calls are throttled, fail, are cut off before and after
they are done, are slow, and reads of indexes are late. Everything is done once, and goes on by itself.

A seed decides what happens to which call: CRASH_SEED repeats a run, as far as two machines can be the same.
"""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import subprocess
import time
import uuid

import pytest

from callback_server import CallbackServer
from ledgers import shared_store_flags
from legal_history import check_history, count_unknown
from outbox_server import OutboxServer
from payloads import payload
from postino_server import Server
from recording_smtp import RecordingSmtp
from store import delete_table
from store_proxy import StoreProxy
from test_metrics import STATUSES, TICKETS, Desk
from test_reminder_crash import all_pages, draft_for_all
from waiting import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.store_only

TROUBLES = {
    **dict.fromkeys(("throttled", "limited"), 0.002),  # servers then call less often, for a minute
    **dict.fromkeys(("failed", "cut", "failed_afterwards", "cut_afterwards", "cut_in_the_answer"), 0.03),
    "slow": 0.05,
    "stale": 0.3,
}
EMAILS, BATCH = 80, 4
REMINDERS, CHANGES = 15, 100
KEYS, MESSAGES = 8, 25
CALLERS = 4
# The last one: messages were held for too long before the answer could be stored.
NOT_NOW = {"IDEMPOTENCY_KEY_IN_PROGRESS", "BROKER_FAILED"}
FLAGS = ["--smtp-connections", "4", "--batch", "10", "--store-timeout", "2s", "--log-level", "warning"]
FLAGS += ["--lease", "2s", "--retry-first", "100ms", "--retry-longest", "200ms", "--max-rescues", "1000"]
FLAGS += ["--callback-retry-first", "100ms", "--callback-allow-private", "--callback-attempts", "1000"]
FLAGS += ["--messages-lease", "2s", "--queue-lease", "2s", "--metrics-window", "0s", "--no-ticket-adoption"]
FLAGS += ["--reminders-from", "Billing <billing@shop.example>"]


class World:
    """Two servers on a store behind a proxy, with what they send to."""

    def __init__(self, binary, directory, opened):
        seed = int(os.environ.get("CRASH_SEED") or time.time_ns() % 2**32)
        print(f"\nCRASH_SEED={seed}")
        self.directory, self.changes = directory, directory / "changes"
        self.store = opened(Server(binary, directory / "store"))
        self.proxy = opened(StoreProxy(self.store.port, random.Random(seed)))
        self.relay, self.listener = opened(RecordingSmtp()), opened(CallbackServer())
        flags = [*shared_store_flags(self.proxy.endpoint, directory / "data"), *FLAGS, "--smtp", self.relay.address]
        flags += ["--subscriber", f"lines={TICKETS}:file:{self.changes}"]
        self.servers = [opened(OutboxServer(binary, directory / "data", *flags)) for _ in range(2)]

    def call(self, number, method, path, body, key):
        """Asks one server and then the other until it is done."""
        turn = number

        def answered():
            nonlocal turn
            turn += 1
            with contextlib.suppress(OSError, http.client.HTTPException):
                answer = self.servers[turn % len(self.servers)].rest().request(method, path, body, {"Idempotency-Key": key})
                if answer.status < 300:
                    return answer
                assert answer.status == 503 or answer.problem["code"] in NOT_NOW, answer

        return eventually(answered, path)

    def call_all(self, calls):
        """Several at once, while everything goes wrong now and then; some of the work is left for better times."""
        before = self.proxy.given.copy()
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            self.proxy.misbehave(**TROUBLES)
            answers = list(pool.map(lambda numbered: self.call(numbered[0], *numbered[1]), enumerate(calls)))
        given = self.proxy.given - before
        print(", ".join(f"{count} {kind}" for kind, count in sorted(given.items())))
        return answers


@pytest.fixture(scope="module")
def world(binary, module_directory):
    with contextlib.ExitStack() as stack:
        yield World(binary, module_directory, stack.enter_context)


@pytest.fixture(autouse=True)
def health_at_the_end(world):
    yield
    world.proxy.heal()
    for server in world.servers:
        eventually(lambda: server.readiness()[0] == 200, "that it is ready by itself")


def test_every_email_moves_once(world):
    batches = [
        [payload(id=str(uuid.uuid4()), subject=f"{first + each}", callback_url=world.listener.url) for each in range(BATCH)]
        for first in range(0, EMAILS, BATCH)
    ]
    world.call_all([("POST", "/emails", {"data": batch}, f"emails-{batch[0]['id']}") for batch in batches])
    accepted = {email["id"] for batch in batches for email in batch}

    def told():
        return collections.Counter(call.json["message_ids"][0] for call in list(world.listener.calls))

    eventually(lambda: len(told()) >= EMAILS // 2, "that half of them are done while nothing is well")
    world.proxy.heal()
    rest = world.servers[0].rest()
    eventually(lambda: rest.counts()["SENT-ACKNOWLEDGED"] == EMAILS, "the end of all e-mails")
    assert sum(rest.counts().values()) == EMAILS, "each has one record, and is counted once"
    arrived = collections.Counter(mail.id for mail in world.relay.arrived)
    assert set(arrived) == set(told()) == accepted
    emails = [rest.email(identifier) for identifier in accepted]
    print(f"{sum(map(count_unknown, emails))} outcomes unknown, {sum(arrived.values()) - EMAILS} arrived twice")
    for email in emails:
        check_history(email)
        states = [line["status"] for line in email["history"]]
        moves = list(zip(states, states[1:]))  # a callback whose server is not sure of it goes back to SENT
        assert moves.count(("PROCESSING", "SENT")) == states.count("SENT-ACKNOWLEDGED") == 1, email
        assert arrived[email["id"]] <= 1 + count_unknown(email), (arrived[email["id"]], email)
    assert set(TROUBLES) <= set(world.proxy.given), "everything has gone wrong"


def test_every_reminder_is_approved_and_sent_once(world):
    rest = world.servers[0].rest()
    drafts = draft_for_all(rest)[:REMINDERS]
    world.call_all(
        [("POST", f"/reminders/drafts/{each}/approve", {"revision": 1, "approved_by": "ann"}, f"approve-{each}") for each in drafts]
    )
    world.proxy.heal()

    def delivered():
        sent = all_pages(rest, "/reminders/sent")
        return {reminder["delivery_status"] for reminder in sent} == {"sent"} and sent

    sent = eventually(delivered, "the delivery of all")
    assert sorted(each["draft_id"] for each in sent) == sorted(drafts), "each has one record"
    arrived = collections.Counter(mail.id for mail in world.relay.arrived)
    for each in sent:
        email = rest.email(each["email_id"])
        check_history(email)
        assert 1 <= arrived[each["email_id"]] <= 1 + count_unknown(email), email
    ours = [mail for mail in world.relay.arrived if mail.message["Subject"] == "Please pay"]
    assert {mail.id for mail in ours} == {each["email_id"] for each in sent}, "and one e-mail"


def test_every_message_is_produced_and_consumed_once(world):
    def calls(kind, **settings):
        target = {"connection": "embedded", "target": {"queueName": "q"}}
        keys = [f"{kind}-{number}" for number in range(KEYS)]
        return [("POST", f"/messages/{kind}", {"idempotencyKey": key, **target, **settings}, key) for key in keys]

    produced = world.call_all(calls("produce", messages=[{"body": "x"}], settings={"totalMessages": MESSAGES, "batchSize": 5}))
    assert {answer.json["processedMessages"] for answer in produced} == {MESSAGES}
    begins = {answer.json["metadata"]["firstMessageId"].removesuffix("-0") for answer in produced}
    expected = {f"{begin}-{position}" for begin in begins for position in range(MESSAGES)}
    consumed = calls("consume", settings={"maxMessages": MESSAGES, "waitTimeout": "PT1S"})
    answers = world.call_all(consumed)
    world.proxy.heal()
    again = [world.call(0, *call) for call in consumed]
    assert [answer.body for answer in again] == [answer.body for answer in answers]
    taken = collections.Counter(message["messageId"] for answer in answers for message in answer.json["messages"])

    def take_rest():
        (method, path, body, _), key = consumed[0], str(uuid.uuid4())
        more = world.call(0, method, path, {**body, "idempotencyKey": key}, key)
        taken.update(message["messageId"] for message in more.json["messages"])
        return len(taken) >= len(expected)

    eventually(lambda: len(taken) >= len(expected) or take_rest(), "the rest")
    assert taken == collections.Counter(expected)


def test_every_change_is_counted_once_and_told(world):
    desk, chance = Desk(world.store), random.Random(8)
    world.proxy.misbehave(**TROUBLES)
    for number in range(CHANGES):
        desk.put(str(chance.randrange(40)), chance.choice(STATUSES), number=number)
    eventually(lambda: sum(desk.counts_by_status().values()) > 20, "some figures while nothing is well")
    world.proxy.heal()
    eventually(lambda: desk.counts_by_status() == desk.true_counts(), "what the tickets say")

    def told():
        lines = [line for file in world.changes.glob("*.jsonl") for line in file.read_text().splitlines()]
        return {int(number["N"]) for line in lines if (number := json.loads(line)["new"].get("number"))}

    eventually(lambda: told() == set(range(CHANGES)), "each change")


def test_a_service_that_is_silent_is_told_of_and_waited_for(world):
    server = world.servers[0]
    world.proxy.misbehave(silent=1)
    # The outbox may say that it cannot write before it is sure of the store.
    told = f"127.0.0.1:{world.proxy.port}"
    eventually(lambda: (seen := server.readiness())[0] == 503 and told in seen[1], "a bad sign")
    assert server.rest().post("/emails", {"data": [payload()]}).status == 503
    world.proxy.heal()
    eventually(lambda: server.readiness()[0] == 200, "a good sign")
    identifier = server.rest().accept_one(payload())
    server.rest().await_status(identifier, "SENT")


def test_a_service_that_throttles_everything_is_waited_for(world):
    server, before = world.servers[0], world.proxy.given["throttled"]
    identifiers = server.rest().accept(*[payload() for _ in range(5)])
    world.proxy.misbehave(throttled=1)
    eventually(lambda: world.proxy.given["throttled"] > before + 10, "some refusals")
    world.proxy.heal()
    rest = server.rest()
    for identifier in identifiers:
        email = rest.await_status(identifier, "SENT")
        check_history(email)


def test_a_table_that_is_deleted_is_waited_for(world, binary):
    """The last test here: what was in the table is gone."""
    rest = world.servers[0].rest()
    delete_table(world.store, "email-outbox")
    refused = rest.post("/emails", {"data": [payload()]})
    assert refused.status == 503 and refused.problem["code"] == "STORE_UNAVAILABLE", refused
    flags = [*shared_store_flags(world.store.endpoint, world.directory / "data")[:-2], "--no-tickets"]
    subprocess.run([binary, "tables", "apply", *flags], check=True, timeout=PATIENCE_SECONDS, stdout=subprocess.DEVNULL)
    # Nobody starts a server again.
    for server in world.servers:
        server.rest().await_status(server.rest().accept_one(payload()), "SENT")
