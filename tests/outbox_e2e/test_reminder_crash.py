"""Approvals while the server is killed again and again, and approvals of many processes at once: in the end each approved
draft has one record and one e-mail, with the outbox in the embedded store and in MariaDB.

A seed decides how far the approvals have come at each kill: CRASH_SEED repeats a run, as far as two machines can be the
same.
"""

import collections
import http.client
import os
import random
import subprocess
import threading
import time

from recording_smtp import RecordingSmtp, read_log
from test_crash import count_unknown
from test_reminders import FROM, add_customer, await_delivery, draft
from waiting import PATIENCE_SECONDS, eventually

CUSTOMERS = 90
KILLS = 6
APPROVERS = 8
FLAGS = ["--lease", "1s", "--retry-first", "100ms", "--retry-longest", "200ms", "--max-rescues", "1000"]
FLAGS += ["--log-level", "warning", *FROM]


def draft_for_all(rest):
    """One draft for each of many customers: ids of drafts."""
    ids = [f"cust_{number:03}" for number in range(CUSTOMERS)]
    customers = "".join(f"{each},Ada,{each}@customer{number % 4}.example\n" for number, each in enumerate(ids))
    invoices = "".join(f"{each},INV-001,10.00,EUR,2026-01-01\n" for each in ids)
    as_csv = {"Content-Type": "text/csv"}
    header = "customer_id,customer_name,customer_email\n"
    assert rest.post("/reminders/import/customers", header + customers, as_csv).json["taken"] == CUSTOMERS
    header = "customer_id,invoice_id,amount,currency,due_date\n"
    assert rest.post("/reminders/import/invoices", header + invoices, as_csv).json["taken"] == CUSTOMERS
    text = {"reminder_type": "first", "email_subject": "Please pay", "email_content": "Dear customer, please pay."}
    answer = rest.post("/reminders/drafts/bulk", {"drafts": [{"customer_id": each, **text} for each in ids]})
    assert answer.json["summary"]["successful"] == CUSTOMERS, answer
    return [result["draft"]["id"] for result in answer.json["results"]]


class Approvers:
    """Several at once approve all drafts, each draft until it is decided on: a killed server has not said whether it was."""

    def __init__(self, drafts):
        self.waiting = collections.deque(drafts)
        self.server = None
        self.changed = threading.Condition()
        self.decided = 0
        self.cut_off = 0
        self.failures = []
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(APPROVERS)]
        for thread in self.threads:
            thread.start()

    def use(self, server):
        with self.changed:
            self.server = server
            self.changed.notify_all()

    def await_decided(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: self.decided >= count or self.failures, PATIENCE_SECONDS)
        assert not self.failures, self.failures

    def run(self):
        try:
            while True:
                try:
                    identifier = self.waiting.popleft()
                except IndexError:
                    return
                self.approve(identifier)
        except BaseException as error:  # shown by the test
            with self.changed:
                self.failures.append(error)
                self.changed.notify_all()

    def approve(self, identifier):
        was_cut_off = False
        while True:
            with self.changed:
                assert self.changed.wait_for(lambda: self.server is not None, PATIENCE_SECONDS)
                server = self.server
            try:
                answer = server.rest().post(f"/reminders/drafts/{identifier}/approve", {"revision": 1, "approved_by": "ann"})
            except (OSError, http.client.HTTPException):
                was_cut_off = True
                with self.changed:
                    self.cut_off += 1
                    if self.server is server:
                        self.server = None
                continue
            if answer.status == 503:
                continue
            # Who was cut off may find that it was approved all the same.
            assert answer.status == 200 or (was_cut_off and answer.problem["code"] == "WRONG_REMINDER_STATE"), answer
            with self.changed:
                self.decided += 1
                self.changed.notify_all()
            return


def all_pages(rest, path, **query):
    return [entry for page in rest.pages(path, limit=100, **query) for entry in page]


def test_a_server_that_is_killed_approves_all_or_nothing(start, directory):
    seed = int(os.environ.get("CRASH_SEED") or time.time_ns() % 2**32)
    print(f"\nCRASH_SEED={seed}")
    chance = random.Random(seed)
    log = directory / "smtp.log"
    with RecordingSmtp(log) as recorder:
        server = start("--smtp", recorder.address, *FLAGS)
        drafts = draft_for_all(server.rest())
        approvers = Approvers(drafts)
        for kill in range(1, KILLS + 1):
            approvers.use(server)
            # So that some are left for each server; those that wait for an answer at this moment are at any step.
            most = kill * (CUSTOMERS - APPROVERS) // (KILLS + 1)
            approvers.await_decided(chance.randrange(approvers.decided, max(approvers.decided, most) + 1))
            server.kill()
            server = start("--smtp", recorder.address, *FLAGS)
        approvers.use(server)
        approvers.await_decided(CUSTOMERS)
        for thread in approvers.threads:
            thread.join(PATIENCE_SECONDS)
        rest = server.rest()

        def delivered():
            sent = all_pages(rest, "/reminders/sent")
            return {reminder["delivery_status"] for reminder in sent} == {"sent"} and sent

        sent = eventually(delivered, "the delivery of all")
        emails = [rest.email(email["id"]) for email in all_pages(rest, "/emails")]
        approved = all_pages(rest, "/reminders/drafts", status="approved")
        assert server.stop() == 0

    print(f"{CUSTOMERS} approvals, {KILLS} kills, {approvers.cut_off} requests cut off")
    assert sorted(each["id"] for each in approved) == sorted(drafts), "all drafts are approved"
    assert sorted(each["draft_id"] for each in sent) == sorted(drafts), "each has one record"
    ids = sorted(each["email_id"] for each in sent)
    assert sorted(email["id"] for email in emails) == ids, "and one e-mail"
    arrived, acknowledged = (collections.Counter(each) for each in read_log(log))
    assert sorted(arrived) == sorted(acknowledged) == ids
    for email in emails:
        assert arrived[email["id"]] <= 1 + count_unknown(email), "what goes out again is what no server could know of"
    assert approvers.cut_off > 0, "the kills hit approvals"


def approve_by_processes(binary, server, drafts):
    """A process for each approval, all at once: their exit codes and what they say."""
    started = [
        subprocess.Popen(
            [binary, "reminders", "drafts", "approve", each, "--revision", "1", "--approved-by", f"user_{number}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"POSTINO_URL": server.url, "LC_ALL": "C.UTF-8"},
        )
        for number, each in enumerate(drafts)
    ]
    said = [process.communicate(timeout=PATIENCE_SECONDS)[0] for process in started]
    return [(process.returncode, text) for process, text in zip(started, said)]


def test_approvals_of_many_processes_send_one_mail(start, binary, recorder):
    server = start("--smtp", recorder.address, *FROM)
    rest = server.rest()
    add_customer(rest, "one")
    add_customer(rest, "many", "grace@customer.example")
    text = {"email_subject": "Please pay", "email_content": "Please."}
    for customer, drafts in (
        ("one", [draft(rest, "one", **text)["id"]] * 50),
        ("many", [draft(rest, "many", **text)["id"] for _ in range(20)]),
    ):
        answers = approve_by_processes(binary, server, drafts)
        assert [code for code, _ in answers].count(0) == 1, answers
        assert all("was approved before" in said or "too soon" in said or "within" in said for code, said in answers if code), answers
        (sent,) = rest.fetch(f"/reminders/customers/{customer}/history")["data"]
        await_delivery(rest, sent["id"], "sent", customer=customer)
    assert len(all_pages(rest, "/emails")) == 2
    assert len(recorder.await_mail(2)) == 2
