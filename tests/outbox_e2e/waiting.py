"""Waiting for what must come to be: looks again and again, and gives up after PATIENCE_SECONDS. Only a test that fails
waits so long."""

import contextlib
import random
import socket
import threading
import time

PATIENCE_SECONDS = 120
# Between two looks: without a pause, a test takes the processor from what it waits for.
LOOK_SECONDS = 0.02
_given = set()  # ports


def eventually(look, what="it", seconds=PATIENCE_SECONDS):
    """What `look` returns as soon as that is true."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, f"{what} did not come to be within {seconds} s; last seen: {seen!r}"
        pause.wait(LOOK_SECONDS)
    return seen


def free_port():
    """A port that no program is bound to, another one each time. It is none of those that the system gives to programs
    which ask for any port: so no other program takes it meanwhile."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port


def await_listener(port, seconds=PATIENCE_SECONDS):
    def connects():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=seconds).close()
        except ConnectionError:
            return False
        return True

    eventually(connects, f"a listener on port {port}", seconds)
