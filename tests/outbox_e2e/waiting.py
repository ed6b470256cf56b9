"""Waiting for what must come to be: looks again and again, and loses patience at the end."""

import socket
import threading
import time

PATIENCE_SECONDS = 30
GLANCE_SECONDS = 0.02


def eventually(look, what="it", seconds=PATIENCE_SECONDS):
    """What `look` returns as soon as that is true."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, f"{what} did not come to be within {seconds} s; last seen: {seen!r}"
        pause.wait(GLANCE_SECONDS)
    return seen


def free_port():
    """A port nobody listens on. It stays free until somebody happens to take it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_listener(port, seconds=PATIENCE_SECONDS):
    def connects():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=seconds).close()
        except ConnectionError:
            return False
        return True

    eventually(connects, f"a listener on port {port}", seconds)
