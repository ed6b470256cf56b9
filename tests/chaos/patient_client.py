"""Clients of a server that may be away at any time. They tell apart what was answered, and what has an unknown outcome."""

import http.client
import json
import threading
from dataclasses import dataclass

from wire import Wire

ANSWER_SECONDS = 60
PAUSE_SECONDS = 0.05
TO_CONNECT = 600  # attempts


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

    def fetch(self, path):
        """A GET that must succeed in the end."""
        for _ in range(TO_CONNECT):
            reply = self.request("GET", path)
            if reply is not None and reply.status == 200:
                return reply.json
            self.pause.wait(PAUSE_SECONDS)
        raise AssertionError(f"GET {path}: {reply}")


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
