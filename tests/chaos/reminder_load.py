"""Payment reminders: customers who owe something, drafts for them, and approvals, some of them at the same moment; some
customers opt out. And the journal of what the callers were told."""

import threading
import time
from dataclasses import dataclass, field

from callers import Callers
from email_load import Submitted
from patient_client import PatientClient

BETWEEN_CUSTOMERS_SECONDS = 0.3
REPEATED = 0.2
OPTS_OUT = 0.25
PLANS = ["fine"] * 6 + ["busy2", "late1", "bye1"]
REFUSALS = {"WRONG_REMINDER_STATE", "REMINDER_RULE"}  # of those who come after another approval


@dataclass
class Customer:
    """One customer, who shall get one reminder. The id is the token of its e-mail."""

    email: Submitted
    is_there: bool = False
    drafts: list = field(default_factory=list)  # ids that callers were told
    are_drafts_known: bool = True  # all that there can be
    approved: list = field(default_factory=list)  # (draft, e-mail), as callers were told
    is_decided: bool = True  # every approval has got an answer
    stop: dict = None  # the answer to an opt-out
    stopped_at: float = None  # when it came, by the monotonic clock

    @property
    def id(self):
        return self.email.token


class ReminderLoad(Callers):
    """Of one server: reminders are in its store, wherever the outbox is."""

    def __init__(self, server, seed):
        super().__init__(BETWEEN_CUSTOMERS_SECONDS)
        self.server = server
        self.customers = []
        self.repeats = []  # (key, whether the answer was the same, what was seen)
        self._mutex = threading.Lock()
        self.add(f"{seed}/reminders", self._connect, self._remind)

    def _connect(self):
        return PatientClient(self.server.host, self.server.rest_port)

    def _remind(self, client, chance, number):
        token = f"reminder-{number}"
        address = f"{chance.choice(PLANS)}.{token}.0@customer{chance.randrange(3)}.example"
        customer = Customer(Submitted(token, {"to": [address]}, "plain"))
        self.customers.append(customer)
        profile = {"customer_name": "Ada", "customer_email": address}
        invoice = {"amount": "10.00", "currency": "EUR", "due_date": "2026-01-01"}
        place = f"/reminders/customers/{token}"
        for path, document in ((place, profile), (f"{place}/invoices/INV-1", invoice)):
            if self._insist(client, "PUT", path, document, 200) is None:
                return
        customer.is_there = True
        for draft in range(chance.choice([1, 1, 2])):
            self._draft(client, chance, customer, f"{token}/{draft}")
        self._approve_all(chance, customer)
        if chance.random() < OPTS_OUT:
            self._opt_out(client, customer)

    @staticmethod
    def _insist(client, method, path, document, status, headers=()):
        reply = client.insist(method, path, document, headers)
        assert reply is None or reply.status == status, f"{reply} to {method} {path} {document}"
        return reply

    def _draft(self, client, chance, customer, key):
        token = customer.id
        document = {"customer_id": token, "reminder_type": "first", "created_by": "ai_system"}
        document |= {"email_subject": f"Token {token}", "email_content": f"This is {token}.\n"}
        headers = {"Idempotency-Key": key}
        reply = self._insist(client, "POST", "/reminders/drafts", document, 201, headers)
        if reply is None:
            customer.are_drafts_known = False
            return
        customer.drafts.append(reply.json["id"])
        if chance.random() < REPEATED:
            again = client.insist("POST", "/reminders/drafts", document, headers)
            if again is not None:
                same = again.status == 201 and again.json["id"] == reply.json["id"]
                self.repeats.append((key, same, f"{again.status} {again.body[:300]!r}"))

    def _approve_all(self, chance, customer):
        """All drafts, each by one person or by two, and all of them at once."""
        approvals = [draft for draft in customer.drafts for _ in range(chance.choice([1, 1, 2]))]
        keys = [f"{customer.id}/approval/{number}" if chance.random() < 0.5 else None for number in range(len(approvals))]
        threads = [
            threading.Thread(target=self._approve, args=(customer, draft, key), daemon=True)
            for draft, key in zip(approvals, keys)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _approve(self, customer, draft, key):
        headers = {"Idempotency-Key": key} if key else {}
        path, document = f"/reminders/drafts/{draft}/approve", {"revision": 1, "approved_by": "ann"}
        reply = self._connect().insist("POST", path, document, headers)
        with self._mutex:
            if reply is None:
                customer.is_decided = False
            elif reply.status == 200:
                customer.approved.append((draft, reply.json["email_id"]))
                customer.email.known, customer.email.id = "accepted", reply.json["email_id"]
            elif reply.status != 409 or reply.json["code"] not in REFUSALS:
                self.failures.append(f"{reply} to the approval of {draft}")

    def _opt_out(self, client, customer):
        customer.email.kind = "stopped"
        path = f"/reminders/customers/{customer.id}/opt-out"
        reply = self._insist(client, "POST", path, {"reason": "asked by phone"}, 200)
        if reply is not None:
            customer.stop, customer.stopped_at = reply.json, time.monotonic()
