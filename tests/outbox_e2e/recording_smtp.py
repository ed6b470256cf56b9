"""An SMTP server that remembers. It keeps apart what has arrived whole and what it has acknowledged, also in a log file
that outlives the server under test; and it refuses, hangs up and waits where a test tells it to, also while it runs.

Stages are called as smtp-sink calls them: CONNECT, EHLO, MAIL, RCPT, DATA, and "." for the end of a message.
"""

import collections
import contextlib
import json
import os
import re
import socketserver
import threading

from received_mail import ReceivedMail, address_in
from waiting import eventually

EXTENSIONS = ["PIPELINING", "8BITMIME", "ENHANCEDSTATUSCODES", "SIZE 50000000", "DSN"]


class RecordedMail(ReceivedMail):
    acknowledged = False  # the client may have been gone by then, but the reply was sent


class RecordingSmtp(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, log=None, port=0):
        super().__init__(("127.0.0.1", port), _Session)
        self.port = self.server_address[1]
        self.address = f"127.0.0.1:{self.port}"
        self.arrived = []  # all messages whose end was received
        self.most_sessions = 0  # at the same time
        self.most_at_once = {}  # messages on their way at the same time, by the domain of the first recipient
        self._sessions = 0
        self._at_once = collections.Counter()
        self._mutex = threading.Lock()
        self.refusals = {}  # recipient -> reply to RCPT
        self.replies = {}  # stage -> reply in place of the usual one
        self.disconnect_at = set()  # stages
        self.gates = {}  # stage -> event to wait for before the reply
        self.slow_domains = {}  # of the first recipient -> event to wait for before the reply to the end of a message
        self.reached = []  # stages, before their replies
        self.hear = lambda line: None  # called with every command
        self.ending = threading.Event()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if log else None
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        for gate in [*self.gates.values(), *self.slow_domains.values()]:
            gate.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """A client that goes away in the middle is what these tests are about."""

    @property
    def acknowledged(self):
        return [mail for mail in self.arrived if mail.acknowledged]

    def await_mail(self, count=1):
        return eventually(lambda: len(mail := self.acknowledged) >= count and mail, f"{count} acknowledged messages")

    @contextlib.contextmanager
    def session(self):
        with self._mutex:
            self._sessions += 1
            self.most_sessions = max(self.most_sessions, self._sessions)
        try:
            yield
        finally:
            with self._mutex:
                self._sessions -= 1

    def set_out(self, domain):
        """A message is on its way, until what this returns is called for the first time."""
        with self._mutex:
            self._at_once[domain] += 1
            self.most_at_once[domain] = max(self.most_at_once.get(domain, 0), self._at_once[domain])
        under_way = [domain]

        def end():
            with self._mutex:
                while under_way:
                    self._at_once[under_way.pop()] -= 1

        return end

    def arrive(self, mail):
        self.arrived.append(mail)
        self._note("arrived", mail)

    def acknowledge(self, mail):
        mail.acknowledged = True
        self._note("acknowledged", mail)

    def _note(self, event, mail):
        if self._log is not None:
            os.write(self._log, json.dumps({"event": event, "id": mail.id, "to": mail.recipients}).encode() + b"\n")


def read_log(path):
    """Ids of what has arrived and of what was acknowledged, each as often as it was."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return tuple([line["id"] for line in lines if line["event"] == event] for event in ("arrived", "acknowledged"))


class _Disconnected(Exception):
    pass


class _Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        self.sender, self.recipients = None, []
        with self.server.session(), contextlib.suppress(_Disconnected, ConnectionError):
            self.reply("CONNECT", "220 recorder ESMTP")
            while line := self.rfile.readline():
                self.command(line.decode().strip())

    def reply(self, stage, text, usual=True, before=lambda: None):
        server = self.server
        server.reached.append(stage)
        if gate := server.gates.get(stage):
            gate.wait()
        if stage in server.disconnect_at or server.ending.is_set():
            raise _Disconnected
        text = server.replies.get(stage, text) if usual else text
        before()
        self.wfile.write(text.encode() + b"\r\n")
        if text.startswith("421"):
            raise _Disconnected
        return text[0] in "23"

    def command(self, line):
        self.server.hear(line)
        verb = line.split(" ")[0].split(":")[0].upper()
        if verb == "EHLO":
            lines = ["recorder", *EXTENSIONS]
            self.reply("EHLO", "\r\n".join(f"250{' ' if each is lines[-1] else '-'}{each}" for each in lines))
        elif verb == "HELO":
            self.reply("HELO", "250 recorder")
        elif verb == "MAIL":
            self.recipients = []
            self.sender = address_in(line) if self.reply("MAIL", "250 2.1.0 fine") else None
        elif verb == "RCPT":
            self.recipient(address_in(line))
        elif verb == "DATA":
            self.data()
        elif verb == "RSET":
            self.sender, self.recipients = None, []
            self.reply("RSET", "250 2.0.0 forgotten")
        elif verb == "QUIT":
            self.reply("QUIT", "221 2.0.0 bye")
            raise _Disconnected
        else:
            self.reply(verb, "502 5.5.2 not known here")

    def recipient(self, address):
        if self.sender is None:
            self.reply("RCPT", "503 5.5.1 MAIL first", usual=False)
        elif refusal := self.server.refusals.get(address):
            self.reply("RCPT", refusal, usual=False)
        elif self.reply("RCPT", "250 2.1.5 fine"):
            self.recipients.append(address)

    def data(self):
        if not self.recipients:
            self.reply("DATA", "554 5.5.1 no valid recipients", usual=False)
            return
        end = self.server.set_out(self.recipients[0].partition("@")[2])
        try:
            if self.reply("DATA", "354 go on"):
                self.message(end)
        finally:
            end()

    def message(self, end):
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                raise _Disconnected
            assert re.fullmatch(rb"[^\r\n]*\r\n", line), f"a line without its proper end: {line!r}"
            lines.append(line[1:] if line.startswith(b".") else line)
        mail = RecordedMail(self.sender, self.recipients, b"".join(lines))
        slow = self.server.slow_domains.get(self.recipients[0].partition("@")[2])
        self.sender, self.recipients = None, []
        self.server.arrive(mail)
        if slow:
            slow.wait()
        # The client that has read the reply may send the next command before this thread goes on.
        if self.reply(".", f"250 2.0.0 taken as number {len(self.server.arrived)}", before=end):
            self.server.acknowledge(mail)
