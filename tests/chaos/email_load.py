"""E-mails of every kind, handed in by several callers; and the journal of what they were told."""

import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from callers import Callers
from patient_client import PatientClient
from payloads import payload

ATTEMPTS = 400  # at one request, before its caller gives up
BETWEEN_REQUESTS_SECONDS = 0.08
REPEATED = 0.15  # of the requests with a key, right after their answer
NOT_EXECUTED = {"OVERLOADED", "STORE_UNAVAILABLE"}  # codes of a 503 that say that nothing was stored
NOT_STORED = {"STORAGE_ERROR", "DATABASE_ERROR"}  # codes of one e-mail that say so
PLANS = ["fine"] * 12 + ["busy1", "busy2", "late1", "bye1", "gone"]


@dataclass
class Submitted:
    """One e-mail, and what its caller knows. `token` is in its tags, its subject and its addresses."""

    token: str
    payload: dict
    kind: str  # plain, scheduled, invalid or cancelled; stopped: it may be cancelled
    known: str = "unknown"  # or accepted, or refused
    id: str = None
    other_ids: set = field(default_factory=set)  # that the same key got later
    cancelled: bool = False
    not_before: float = None  # of the monotonic clock

    @property
    def recipients(self):
        return self.payload["to"]

    @property
    def has_callback(self):
        return "callback_url" in self.payload


@dataclass
class Request:
    key: str  # or None
    document: dict
    emails: list


class EmailLoad(Callers):
    def __init__(self, servers, seed, callback_url):
        super().__init__(BETWEEN_REQUESTS_SECONDS)
        self.servers, self.callback_url = servers, callback_url
        self.submitted, self.keyed = [], []
        self.repeats = []  # (key, whether the answer was the same, what was seen)
        self.refusals = 0
        self._mutex = threading.Lock()
        for caller in range(3):
            self._add_caller(seed, caller)

    def _add_caller(self, seed, caller):
        def hand_in(client, chance, number):
            self._hand_in(client, chance, f"{caller}-{number}")

        self.add(f"{seed}/{caller}", lambda: self.new_client(caller), hand_in)

    def new_client(self, first=0):
        """Of all servers, beginning with one of them."""
        ports = [server.rest_port for server in self.servers]
        first %= len(ports)
        return PatientClient(self.servers[0].host, *ports[first:], *ports[:first])

    def _new_email(self, chance, token):
        kind = chance.choices(["plain", "scheduled", "invalid", "cancelled"], [80, 10, 4, 6])[0]
        plans = [chance.choice(PLANS) for _ in range(chance.choice([1, 1, 1, 2, 4]))]
        to = [f"{plan}.{token}.{number}@customer{chance.randrange(3)}.example" for number, plan in enumerate(plans)]
        text = f"This is {token}.\n" + "." * chance.choice([0, 100, 20_000])
        fields = {"to": to, "subject": f"Token {token}", "body_text": text, "tags": [token]}
        email = Submitted(token, payload(**fields), kind)
        if chance.random() < 0.4:
            email.payload["callback_url"] = f"{self.callback_url}/{token}"
        if kind == "invalid":
            email.payload["attachments"] = ["there-is-no-such-file.pdf"]
        if kind in ("scheduled", "cancelled"):
            wait = chance.uniform(2, 12) if kind == "scheduled" else 3_600
            email.payload["send_at"] = (datetime.now(timezone.utc) + timedelta(seconds=wait)).isoformat(
                timespec="milliseconds"
            )
            email.not_before = time.monotonic() + wait
        return email

    def _hand_in(self, client, chance, name):
        emails = [self._new_email(chance, f"{name}-{number}") for number in range(chance.choice([1, 1, 2, 5]))]
        way = chance.choices(["key", "key and id", "id", "nothing"], [40, 20, 30, 10])[0]
        if "id" in way:
            for email in emails:
                email.id = email.payload["id"] = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        with self._mutex:
            self.submitted += emails
        document = {"data": [email.payload for email in emails]}
        request = Request(f"key-{name}" if "key" in way else None, document, emails)
        self._submit(client, request, once=way == "nothing")
        if request.key and all(email.known == "accepted" for email in emails):
            with self._mutex:
                self.keyed.append(request)
            if chance.random() < REPEATED:
                self.repeat(client, request)
        for email in emails:
            if email.kind == "cancelled" and email.known == "accepted":
                self.cancel(client, email)

    def _submit(self, client, request, once):
        """Until there is an answer; without a key or an id the server could not tell a second one from the first."""
        unanswered = False
        for _ in range(ATTEMPTS):
            reply = client.post("/emails", request.document, {"Idempotency-Key": request.key} if request.key else {})
            if reply is None or reply.status == 503:
                refused = reply is not None and reply.json["code"] in NOT_EXECUTED
                unanswered = unanswered or not refused
                self.refusals += reply is not None
                if once and refused:
                    self._note_refused(request.emails)
            elif reply.status not in (409, 429):
                self._note(request, reply, unanswered)
                return
            if once:
                return
            client.pause.wait(0.1)

    def _note(self, request, reply, unanswered):
        if reply.status not in (200, 201, 422) or "results" not in reply.json:
            raise AssertionError(f"{reply} to {request}")
        for email, result in zip(request.emails, reply.json["results"]):
            code = result.get("error", {}).get("code")
            if code is None or (code == "DUPLICATED_ID" and unanswered):
                email.known, email.id = "accepted", result["id"]
            elif code == "DUPLICATED_ID" or (code in NOT_STORED and not unanswered):
                self._note_refused([email])

    @staticmethod
    def _note_refused(emails):
        for email in emails:
            email.known = "refused"

    def repeat(self, client, request):
        """The same request once more: the same answer, and no other e-mails."""
        for _ in range(ATTEMPTS):
            reply = client.post("/emails", request.document, {"Idempotency-Key": request.key})
            if reply is not None and reply.status not in (409, 429, 503):
                break
            client.pause.wait(0.1)
        else:
            return
        results = reply.json.get("results", [])
        ids = [result.get("id") for result in results]
        same = reply.status == 201 and ids == [email.id for email in request.emails]
        with self._mutex:
            self.repeats.append((request.key, same, f"{reply.status} {reply.body[:300]!r}"))
        for email, other in zip(request.emails, ids):
            if other != email.id:
                email.other_ids.add(other)

    def cancel(self, client, email):
        for _ in range(ATTEMPTS):
            reply = client.post(f"/emails/{email.id}/cancel", {})
            if reply is not None and reply.status not in (429, 503):
                email.cancelled = True  # or was before, by an attempt without an answer: its state will tell
                return
            client.pause.wait(0.1)
