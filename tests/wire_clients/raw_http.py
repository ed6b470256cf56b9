"""HTTP/1.1 by hand, for requests that no client library would send."""

import socket

from postino_server import PATIENCE_SECONDS


class RawConnection:
    def __init__(self, server, timeout=PATIENCE_SECONDS):
        self.socket = socket.create_connection((server.host, server.port), timeout=timeout)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        """One response: status, headers with lower-case names, body. None when the server has closed."""
        line = self.stream.readline()
        if not line:
            return None
        status = int(line.split()[1])
        headers = {}
        while line := self.stream.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self.stream.read(int(headers.get("content-length", 0)))


def request_bytes(headers, body, method="POST", path="/", version="HTTP/1.1", length=True):
    lines = [f"{method} {path} {version}", *(f"{name}: {value}" for name, value in headers.items())]
    if length and "Content-Length" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
