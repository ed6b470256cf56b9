"""Messages through a queue, of the store or of a broker: producers and consumers that repeat a request under its key
until it is answered. And the journal of what they were told."""

import itertools
import time
from dataclasses import dataclass, field

from callers import Callers
from patient_client import PatientClient

QUEUE = "work"
ATTEMPTS = 400
BETWEEN_CALLS_SECONDS = 0.15
REPEATED = 0.2


@dataclass
class Call:
    """One call under its key, with all its attempts. Times are of the monotonic clock."""

    key: str
    began: float  # the last attempt, which was answered
    answered: float = None
    is_repeated: bool = False  # an attempt before has an outcome that its caller does not know
    is_replayed: bool = False  # the answer is that of an attempt before
    bodies: list = field(default_factory=list)
    settings: dict = None  # of a consume call


class MessageLoad(Callers):
    def __init__(self, server, seed, wait_timeout):
        super().__init__(BETWEEN_CALLS_SECONDS)
        self.server, self.wait_timeout = server, wait_timeout
        self.produced = {}  # body -> call
        self.consumed = []  # calls
        self.repeats = []
        self._unanswered = []  # consume calls whose caller has given up
        self.add(f"{seed}/producer", self._connect, self._produce)
        self.add(f"{seed}/consumer", self._connect, self._consume)

    def _connect(self):
        return PatientClient(self.server.host, self.server.rest_port)

    def _call(self, client, operation, call, **members):
        """The answer, or None. What is known of the call is noted in it."""
        document = {"idempotencyKey": call.key, "target": {"queueName": QUEUE}, **members}
        for _ in range(ATTEMPTS):
            call.began = time.monotonic()
            reply = client.post(f"/messages/{operation}", document)
            if reply is not None and reply.status == 200:
                call.answered = time.monotonic()
                call.is_replayed = reply.headers.get("idempotent-replayed") == "true"
                return reply
            if reply is not None and reply.status not in (409, 429, 502, 503, 504):
                raise AssertionError(f"{reply} to {document}")
            call.is_repeated = call.is_repeated or reply is None or reply.status != 429
            client.pause.wait(0.1)
        return None

    def _repeat(self, client, chance, operation, key, first, **members):
        if chance.random() > REPEATED:
            return
        again = self._call(client, operation, Call(key, time.monotonic()), **members)
        if again is not None:
            self.repeats.append((key, again.json == first.json, f"{again.body[:300]!r}, not {first.body[:300]!r}"))

    def _produce(self, client, chance, number):
        name = f"producer-{number}"
        call = Call(name, time.monotonic(), bodies=[f"{name}/{number}" for number in range(chance.choice([1, 3, 10]))])
        self.produced.update(dict.fromkeys(call.bodies, call))
        messages = [{"body": body} for body in call.bodies]
        reply = self._call(client, "produce", call, messages=messages)
        if reply is not None:
            self._repeat(client, chance, "produce", name, reply, messages=messages)

    def _consume(self, client, chance, number):
        name = f"consumer-{number}"
        settings = {"maxMessages": chance.choice([1, 5, 20]), "waitTimeout": self.wait_timeout}
        call = Call(name, time.monotonic(), settings=settings)
        reply = self._take(client, call)
        if reply is None:
            self._unanswered.append(call)
        else:
            self._repeat(client, chance, "consume", name, reply, settings=settings)

    def _take(self, client, call):
        reply = self._call(client, "consume", call, settings=call.settings)
        if reply is not None:
            call.bodies = [message["body"] for message in reply.json["messages"]]
            self.consumed.append(call)
        return reply

    def drain(self, seconds):
        """Takes what is left, until everything that was produced has been seen: what a consumer took and did not settle
        comes back after a while. Calls that were given up are asked again: their answers may have been written down."""
        client = self._connect()
        for call in self._unanswered:
            assert self._take(client, call) is not None, f"{call} is not answered"
        end = time.monotonic() + seconds
        for number in itertools.count():
            settings = {"maxMessages": 1_000, "waitTimeout": self.wait_timeout}
            call = Call(f"drain-{number}", time.monotonic(), settings=settings)
            assert self._take(client, call) is not None, f"{call} is not answered"
            if not call.bodies:
                if not self.missing() or time.monotonic() > end:
                    return
                client.pause.wait(0.2)

    def missing(self):
        """What is known to be produced and was not consumed."""
        consumed = {body for call in self.consumed for body in call.bodies}
        return {body for body, call in self.produced.items() if call.answered is not None and body not in consumed}
