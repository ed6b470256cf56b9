"""Callers of a load: each is a thread that does its work again and again, with chances of its own, until it is
enough."""

import itertools
import random
import threading
import time


class Callers:
    def __init__(self, pause_seconds):
        """On average between two pieces of work of a caller."""
        self.failures = []  # for the end of the run
        self._pause_seconds = pause_seconds
        self._enough = threading.Event()
        self._threads = []

    def add(self, seed, connect, work):
        """`work` gets what `connect` returns, the caller's chances, and the number of the piece of work."""
        self._threads.append(threading.Thread(target=self._run, args=(seed, connect, work), daemon=True))

    def start(self):
        for thread in self._threads:
            thread.start()

    def finish(self, seconds):
        """Returns when every caller has its last answer."""
        self._enough.set()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0, end - time.monotonic()))
            assert not thread.is_alive(), f"a caller still waits for its answer: {thread.name}"

    def _run(self, seed, connect, work):
        chance, client = random.Random(seed), connect()
        threading.current_thread().name = seed
        try:
            for number in itertools.count():
                if self._enough.wait(chance.uniform(0, 2 * self._pause_seconds)):
                    return
                work(client, chance, number)
        except BaseException as error:  # shown at the end of the run
            self.failures.append(repr(error))
            raise
