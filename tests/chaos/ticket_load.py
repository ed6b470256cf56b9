"""Tickets of the support desk: opened, moved, rated, with events, e-mails and files. Each belongs to one caller, who
knows what it must be. And the journal of what the callers were told."""

import base64
import hashlib
from dataclasses import dataclass, field

from callers import Callers
from email_load import Submitted
from patient_client import PatientClient

BETWEEN_CALLS_SECONDS = 0.12
OPENS = 0.3
REPEATED = 0.15
WITH_LETTER = 0.4
NEXT = {
    "NEW": ["PROCESSING"],
    "PROCESSING": ["READY", "FAILED", "ESCALATED"],
    "FAILED": ["PROCESSING"],
    "ESCALATED": ["PROCESSING"],
    "READY": [],
}


@dataclass
class Ticket:
    """One ticket. Its customer has the name of its token, so that it is found again if its id was never told."""

    token: str
    id: str = None
    known: str = "unknown"  # or accepted
    is_sure: bool = True  # nothing that was asked for has an unknown outcome
    status: str = "NEW"
    version: int = 1
    moves: int = 0
    ratings: list = field(default_factory=list)  # comments, each of which is there once
    notes: list = field(default_factory=list)  # of events
    files: dict = field(default_factory=dict)  # digests by id
    letters: list = field(default_factory=list)  # Submitted


class TicketLoad(Callers):
    """Of one server: tickets are in its store, wherever the outbox is."""

    def __init__(self, server, seed):
        super().__init__(BETWEEN_CALLS_SECONDS)
        self.server = server
        self.tickets = []
        self.repeats = []  # (key, whether the answer was the same, what was seen)
        self.add(f"{seed}/tickets", lambda: PatientClient(server.host, server.rest_port), self._work)

    def letters(self):
        return [letter for ticket in self.tickets for letter in ticket.letters]

    def _work(self, client, chance, number):
        mine = [ticket for ticket in self.tickets if ticket.id and ticket.is_sure]
        if not mine or chance.random() < OPENS:
            self._open(client, chance, f"ticket-{number}")
            return
        ticket = chance.choice(mine[-20:])
        actions = [self._move, self._rate, self._note, self._attach, self._write]
        chance.choices(actions, [5, 2, 2, 2, 1])[0](client, chance, ticket, f"{ticket.token}-{number}")

    def _call(self, client, chance, ticket, path, document, key, status):
        """The answer, or None: then it is not known what was done."""
        headers = {"Idempotency-Key": key}
        reply = client.insist("POST", path, document, headers)
        if reply is None:
            ticket.is_sure = False
            return None
        assert reply.status == status, f"{reply} to {path} {document} about {ticket}"
        if chance.random() < REPEATED:
            again = client.insist("POST", path, document, headers)
            if again is not None:
                same = again.status == status and again.json == reply.json
                self.repeats.append((key, same, f"{again.body[:300]!r}, not {reply.body[:300]!r}"))
        return reply

    @staticmethod
    def _new_letter(chance, ticket, token):
        """What is to be sent, and the e-mail that shall come of it."""
        address = f"{chance.choice(['fine', 'busy1', 'late1'])}.{token}.0@customer{chance.randrange(3)}.example"
        email = Submitted(token, {"to": [address]}, "plain")
        ticket.letters.append(email)
        letter = {"kind": token, "subject": f"Token {token}", "text": f"This is {token}.\n", "to": [address]}
        return letter, email

    def _open(self, client, chance, token):
        ticket = Ticket(token)
        document = {
            "customer": {"id": token, "name": "Ada", "contact_email": "ada@customer.example"},
            "asset": {"product_type": "router", "model": "RX-200"},
            "symptom_text": f"This is {token}.",
            "priority": chance.choice(["P1", "P2", "P3", "P4"]),
        }
        if chance.random() < WITH_LETTER:
            document["letter"], _ = self._new_letter(chance, ticket, token)
        self.tickets.append(ticket)
        reply = self._call(client, chance, ticket, "/tickets", document, token, 202)
        if reply is not None:
            ticket.known, ticket.id = "accepted", reply.json["ticket_id"]
            self._told(ticket.letters)

    @staticmethod
    def _told(letters):
        for letter in letters:
            letter.known = "accepted"

    def _move(self, client, chance, ticket, key):
        if not NEXT[ticket.status]:
            return
        status = chance.choice(NEXT[ticket.status])
        document = {"status": status, "version": ticket.version, "by": "ann"}
        if status == "ESCALATED":
            document |= {"engineer": "eng_1", "reason": "The firmware is new."}
        reply = self._call(client, chance, ticket, f"/tickets/{ticket.id}/status", document, key, 200)
        if reply is not None:
            ticket.status, ticket.version = status, ticket.version + 1
            ticket.moves += 1

    def _rate(self, client, chance, ticket, key):
        document = {"operator_id": "op_1", "rating": chance.randrange(1, 6), "comments": key}
        if self._call(client, chance, ticket, f"/tickets/{ticket.id}/feedback", document, key, 201) is not None:
            ticket.ratings.append(key)

    def _note(self, client, chance, ticket, key):
        document = {"event_type": "note", "details": {"key": key}}
        if self._call(client, chance, ticket, f"/tickets/{ticket.id}/events", document, key, 201) is not None:
            ticket.notes.append(key)

    def _attach(self, client, chance, ticket, key):
        content = (f"This is {key}.\n" + "x" * chance.choice([0, 1_000, 100_000])).encode()
        document = {"name": "log.txt", "content_base64": base64.b64encode(content).decode()}
        reply = self._call(client, chance, ticket, f"/tickets/{ticket.id}/attachments", document, key, 201)
        if reply is not None:
            ticket.files[reply.json["attachment_id"]] = hashlib.sha256(content).hexdigest()

    def _write(self, client, chance, ticket, key):
        letter, email = self._new_letter(chance, ticket, key)
        if self._call(client, chance, ticket, f"/tickets/{ticket.id}/emails", letter, key, 201) is not None:
            self._told([email])
