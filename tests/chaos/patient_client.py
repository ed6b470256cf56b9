"""Clients of a server that may be away at any time. They tell apart what was answered, and what has an unknown outcome."""

import http.client
import json
import threading
import urllib.parse
from dataclasses import dataclass

from wire import Wire

ANSWER_SECONDS = 60
PAUSE_SECONDS = 0.05
TO_CONNECT = 600  # attempts
TO_BE_ANSWERED = 400  # attempts
BETWEEN_ATTEMPTS_SECONDS = 0.1


@dataclass
class Reply:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class PatientClient:
    """One connection of one thread. Of several servers it uses the first that listens, beginning with the one that it
    used last."""

    def __init__(self, host, *ports):
        self.host, self.ports = host, list(ports)
        self.pause = threading.Event()
        self._connection = None

    def _connect(self):
        """Waits until a server listens: what was not sent has no outcome."""
        for _ in range(TO_CONNECT):
            connection = http.client.HTTPConnection(self.host, self.ports[0], timeout=ANSWER_SECONDS)
            try:
                connection.connect()
            except OSError:
                connection.close()
                self.ports.append(self.ports.pop(0))
                self.pause.wait(PAUSE_SECONDS)
            else:
                return connection
        raise AssertionError(f"no server listens on {self.ports}")

    def request(self, method, path, body=None, headers=()):
        """The reply, or None if there was none."""
        if self._connection is None:
            self._connection = self._connect()
        try:
            self._connection.request(method, path, body, dict(headers))
            response = self._connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, headers, response.read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            self._connection = None
            return None

    def post(self, path, document, headers=()):
        return self.request("POST", path, json.dumps(document), {"Content-Type": "application/json", **dict(headers)})

    def insist(self, method, path, document, headers=()):
        """Repeats a request until the server says what has become of it. The reply, or None if it never did."""
        for _ in range(TO_BE_ANSWERED):
            reply = self.request(method, path, json.dumps(document), {"Content-Type": "application/json", **dict(headers)})
            if reply is not None and reply.status not in (429, 503) and not is_in_progress(reply):
                return reply
            self.pause.wait(BETWEEN_ATTEMPTS_SECONDS)
        return None

    def fetch(self, path):
        """What a GET that must succeed in the end answers."""
        return self.download(path).json

    def download(self, path):
        for _ in range(TO_CONNECT):
            reply = self.request("GET", path)
            if reply is not None and reply.status == 200:
                return reply
            self.pause.wait(PAUSE_SECONDS)
        raise AssertionError(f"GET {path}: {reply}")

    def fetch_all(self, path):
        """The entries of all pages."""
        entries, cursor = [], ""
        while cursor is not None:
            more = f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""
            page = self.fetch(f"{path}{'&' if '?' in path else '?'}limit=100{more}")
            entries += page["data"]
            cursor = page["cursor"]
        return entries


def is_in_progress(reply):
    """An attempt before it, whose caller was cut off, has the key."""
    return reply.status == 409 and reply.json.get("code") == "IDEMPOTENCY_KEY_IN_PROGRESS"


class PatientWire(PatientClient):
    """DynamoDB's API."""

    def __init__(self, server):
        super().__init__(server.host, server.port)
        self._signer = Wire(server)

    def call(self, operation, **members):
        body = json.dumps(members).encode()
        return self.request("POST", "/", body, self._signer.signed_headers(operation, body))

    def call_surely(self, operation, **members):
        """Something that may be repeated, until it succeeds."""
        for _ in range(TO_CONNECT):
            reply = self.call(operation, **members)
            if reply is not None and reply.status == 200:
                return reply.json
            self.pause.wait(PAUSE_SECONDS)
        raise AssertionError(f"{operation} {members}: {reply}")


def error_code(reply):
    return reply.json.get("__type", "").partition("#")[2]
