"""A network and a service that misbehave, between servers and their store: it passes DynamoDB's API on, and by chance it
throttles, fails, cuts connections before and after what was asked for is done, is slow, stays silent, and answers reads
of indexes with what an index showed a while ago.

What is to happen how often is set while it runs, as a probability for each kind.
"""

import collections
import contextlib
import http.client
import json
import operator
import re
import socket
import struct
import threading
import zlib
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Nothing is done.
REFUSED = {"throttled": (400, "ProvisionedThroughputExceededException"), "failed": (500, "InternalServerError")}
REFUSED["limited"] = (400, "ThrottlingException")
NOT_DONE = {*REFUSED, "cut", "silent"}
# It is done, and nobody is told.
DONE = {"failed_afterwards", "cut_afterwards", "cut_in_the_answer"}
KINDS = [*sorted(NOT_DONE), *sorted(DONE), "slow", "stale"]

JSON = {"content-type": "application/x-amz-json-1.0"}
LONGEST_DELAY_SECONDS = 0.3
REMEMBERED = 8  # answers of each queue of an index

_COMPARE = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq}
_CONDITION = re.compile(r"([#\w]+) (>=|<=|>|<|=) (:\w+)")


def _value(attribute):
    ((kind, value),) = attribute.items()
    return Decimal(value) if kind == "N" else value


class IndexRead:
    """A query of an index, as far as its answer can be given to another one later: the same partition, from its
    beginning. What that one did not ask for is left out."""

    def __init__(self, request):
        names = request.get("ExpressionAttributeNames", {})
        values = {name: _value(value) for name, value in request.get("ExpressionAttributeValues", {}).items()}
        parts = [_CONDITION.fullmatch(part) for part in request["KeyConditionExpression"].split(" AND ")]
        self.terms = [(names.get(part[1], part[1]), _COMPARE[part[2]], values[part[3]]) for part in parts]
        partition = tuple(values[part[3]] for part in parts if part[2] == "=")
        shape = tuple(part[1] + part[2] for part in parts)
        self.key = (request["TableName"], request["IndexName"], partition, shape, request.get("ScanIndexForward", True))

    @classmethod
    def of(cls, operation, body):
        """None: it is not of an index, or is one whose answers are not understood here."""
        if operation != "Query":
            return None
        request = json.loads(body)
        if "IndexName" not in request or request.keys() & {"ExclusiveStartKey", "FilterExpression"}:
            return None
        parts = request["KeyConditionExpression"].split(" AND ")
        return cls(request) if all(_CONDITION.fullmatch(part) for part in parts) else None

    def fitting(self, answer):
        """What of an earlier answer this query can be given."""
        page = json.loads(answer)
        items = [item for item in page["Items"] if all(compare(_value(item[name]), to) for name, compare, to in self.terms)]
        return json.dumps({**page, "Items": items, "Count": len(items), "ScannedCount": len(items)}).encode()


class StoreProxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, service, chance):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service, self.port = service, self.server_address[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.troubles = {}
        self.given = collections.Counter()  # how often what happened
        self._owed = []  # each kind happens once, however few requests there are
        self._chance = chance
        self._mutex = threading.Lock()
        self._seen = collections.defaultdict(lambda: collections.deque(maxlen=REMEMBERED))
        self._speaking = threading.Event()
        self._speaking.set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.heal()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """Callers hang up when they have waited long enough, or are killed."""

    def misbehave(self, **troubles):
        assert set(troubles) <= set(KINDS) and sum(troubles.values()) <= 1
        if "silent" in troubles:
            self._speaking.clear()
        owed = [kind for kind, probability in troubles.items() if probability > 0]
        with self._mutex:
            self._chance.shuffle(owed)
            self._owed = owed
        self.troubles = troubles

    def heal(self):
        with self._mutex:
            self._owed = []
        self.troubles = {}
        self._speaking.set()

    def draw(self):
        """What happens to the next request, and how long it takes if it is slow."""
        with self._mutex:
            drawn, delay = self._chance.random(), self._chance.uniform(0, LONGEST_DELAY_SECONDS)
            if self._owed:
                return self._owed.pop(), delay
        for kind, probability in self.troubles.items():
            drawn -= probability
            if drawn < 0:
                return kind, delay
        return "usual", delay

    def count(self, kind):
        with self._mutex:
            self.given[kind] += 1

    def remember(self, read, answer):
        with self._mutex:
            self._seen[read.key].append(answer)

    def recall(self, read):
        """An answer of an earlier time; None if there is none yet."""
        with self._mutex:
            seen = self._seen[read.key]
            return read.fitting(self._chance.choice(seen)) if seen else None

    def await_voice(self):
        self._speaking.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    connection_there = None

    def finish(self):
        if self.connection_there:
            self.connection_there.close()
        super().finish()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind, delay = self.server.draw()
        read = IndexRead.of(self.headers["X-Amz-Target"].partition(".")[2], body)
        stale = self.server.recall(read) if kind == "stale" and read else None
        if kind == "stale" and stale is None:
            kind = "usual"
        self.server.count(kind)
        if kind == "slow":
            threading.Event().wait(delay)
        if kind in REFUSED:
            status, name = REFUSED[kind]
            self.refuse(status, name)
        elif kind == "stale":
            self.answer(200, JSON, stale)
        elif kind in NOT_DONE:
            if kind == "silent":
                self.server.await_voice()
            self.cut()
        else:
            self.pass_on(kind, read, body)

    def pass_on(self, kind, read, body):
        try:
            status, headers, answer = self.ask(body)
        except (OSError, http.client.HTTPException):
            return self.cut()
        if read and status == 200:
            self.server.remember(read, answer)
        if kind == "failed_afterwards":
            self.refuse(*REFUSED["failed"])
        elif kind == "cut_afterwards":
            self.cut()
        else:
            self.answer(status, headers, answer, whole=kind != "cut_in_the_answer")

    def ask(self, body):
        """The request as it came, because it is signed."""
        if self.connection_there is None:
            self.connection_there = http.client.HTTPConnection("127.0.0.1", self.server.service)
        self.connection_there.putrequest("POST", self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            self.connection_there.putheader(name, value)
        self.connection_there.endheaders(body)
        response = self.connection_there.getresponse()
        dropped = ("content-length", "connection", "keep-alive")
        headers = {name.lower(): value for name, value in response.getheaders() if name.lower() not in dropped}
        return response.status, headers, response.read()

    def refuse(self, status, name):
        body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": "by order"}).encode()
        self.answer(status, JSON, body)

    def answer(self, status, headers, body, whole=True):
        self.send_response_only(status)
        headers = {"x-amz-crc32": str(zlib.crc32(body)), "date": self.date_time_string(), **headers}
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if whole else body[: len(body) // 2])
        if not whole:
            self.cut()

    def cut(self):
        """As a network does."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        pass
