"""The receiver of callbacks, which is told what became of an e-mail: an HTTP server that remembers its calls, and answers as the test
says."""

import base64
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from waiting import eventually


class Call:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def id(self):
        return self.headers["webhook-id"]

    def is_signed_with(self, secret):
        """As Standard Webhooks has it: `secret` is whsec_ and base64."""
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"].split() == [f"v1,{expected}"]


class CallbackServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook"
        self.calls = []
        # What the next calls get, then the usual answer: (status, headers).
        self.script = []
        self.usual = (204, {})
        self.gate = threading.Event()  # closed, no call is answered
        self.gate.set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request, client_address):
        """Callers hang up when they have waited long enough, or are killed."""

    def await_calls(self, count=1):
        return eventually(lambda: len(self.calls) >= count and self.calls, f"{count} callbacks")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.calls.append(Call(self.path, self.headers, body))
        status, headers = server.script.pop(0) if server.script else server.usual
        server.gate.wait()
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        pass
