"""A mail server that takes, delays and refuses by plan, and remembers every copy that it has taken.

The plan is in the address of a recipient, `<plan>.<token>@...`:

    fine    is taken
    busy2   RCPT is answered with 450 the first two times
    bye1    RCPT is answered with 421, and the connection closed, the first time
    late1   the message is answered with 451 the first time
    gone    RCPT is answered with 550, always
"""

import collections
import contextlib
import random
import re
import socketserver
import threading
import time
from dataclasses import dataclass, field

from received_mail import ReceivedMail, address_in

EXTENSIONS = ["PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "SIZE 50000000", "DSN"]
REPLIES = {"busy": "450 4.2.1 come back", "late": "451 4.7.1 later", "bye": "421 4.3.2 closing", "gone": "550 5.1.1 no"}
STAGES = {"busy": "RCPT", "bye": "RCPT", "gone": "RCPT", "late": "."}
PLAN = re.compile(r"([a-z]+?)(\d*)\.")


def plan_of(address):
    """What is planned, and how many times."""
    name, times = PLAN.match(address).groups()
    return name, int(times) if times else None


@dataclass
class Copy:
    """A message that has arrived whole and was not refused. `replied_at` is missing if the client was gone by then."""

    mail: ReceivedMail
    cable: object
    arrived_at: float
    replied_at: float = None
    id: str = field(init=False)

    def __post_init__(self):
        self.id = self.mail.id


class PlannedSmtp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seed, longest_wait):
        super().__init__(("127.0.0.1", 0), _Session)
        self.port = self.server_address[1]
        self.copies = []
        self.cable_of = lambda port: None  # set by who puts a proxy before it
        self.ending = threading.Event()
        self._chance, self._longest_wait = random.Random(seed), longest_wait
        self._seen = collections.Counter()  # how often a recipient was at a stage
        self._mutex = threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.ending.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that goes away in the middle is what this is about."""

    def refusal(self, stage, address):
        """The reply to a recipient at this stage, or None."""
        name, times = plan_of(address)
        if STAGES.get(name) != stage:
            return None
        with self._mutex:
            self._seen[stage, address] += 1
            return REPLIES[name] if times is None or self._seen[stage, address] <= times else None

    def wait_before_reply(self):
        """The time in which only this server knows the outcome."""
        with self._mutex:
            seconds = self._chance.uniform(0, self._longest_wait)
        self.ending.wait(seconds)

    def take(self, copy):
        with self._mutex:
            self.copies.append(copy)


class _Disconnected(Exception):
    pass


class _Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        self.sender, self.recipients = None, []
        with contextlib.suppress(_Disconnected, OSError):
            self.reply("220 planned ESMTP")
            while line := self.rfile.readline():
                self.command(line.decode().strip())

    def reply(self, text):
        if self.server.ending.is_set():
            raise _Disconnected
        self.wfile.write(text.encode() + b"\r\n")
        if text.startswith("421"):
            raise _Disconnected

    def command(self, line):
        verb = line.split(" ")[0].split(":")[0].upper()
        if verb == "EHLO":
            lines = ["planned", *EXTENSIONS]
            self.reply("\r\n".join(f"250{' ' if each is lines[-1] else '-'}{each}" for each in lines))
        elif verb == "MAIL":
            self.sender, self.recipients = address_in(line), []
            self.reply("250 2.1.0 fine")
        elif verb == "RCPT":
            address = address_in(line)
            refusal = self.server.refusal("RCPT", address)
            if refusal is None:
                self.recipients.append(address)
            self.reply(refusal or "250 2.1.5 fine")
        elif verb == "DATA":
            if self.recipients:
                self.message()
            else:
                self.reply("554 5.5.1 no valid recipients")
        elif verb == "RSET":
            self.sender, self.recipients = None, []
            self.reply("250 2.0.0 forgotten")
        elif verb == "QUIT":
            self.reply("221 2.0.0 bye")
            raise _Disconnected
        else:
            self.reply("502 5.5.2 not known here")

    def message(self):
        self.reply("354 go on")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                raise _Disconnected
            lines.append(line[1:] if line.startswith(b".") else line)
        refusals = [self.server.refusal(".", address) for address in self.recipients]
        mail = ReceivedMail(self.sender, self.recipients, b"".join(lines))
        self.sender, self.recipients = None, []
        if refusal := next((each for each in refusals if each), None):
            self.reply(refusal)
            return
        copy = Copy(mail, self.server.cable_of(self.client_address[1]), time.monotonic())
        self.server.take(copy)
        self.server.wait_before_reply()
        self.reply("250 2.0.0 taken")
        copy.replied_at = time.monotonic()
