"""What was promised, how often that was looked at, and where it was broken."""

import collections
import threading

SHOWN = 5  # of each promise
LENGTH = 2_000


class Verdict:
    def __init__(self):
        self.checked = collections.Counter()
        self.broken = []  # (promise, what was seen)
        self._mutex = threading.Lock()

    def check(self, promise, holds, seen):
        """`seen` is a text, or a function that makes one."""
        with self._mutex:
            self.checked[promise] += 1
            if not holds:
                self.broken.append((promise, seen() if callable(seen) else str(seen)))
        return holds

    def show(self):
        by_promise = collections.Counter(promise for promise, _ in self.broken)
        for promise, count in sorted(self.checked.items()):
            print(f"  {promise}: {count} checked, {by_promise[promise]} broken")
        shown = collections.Counter()
        for promise, seen in self.broken:
            shown[promise] += 1
            if shown[promise] <= SHOWN:
                print(f"BROKEN {promise}: {seen[:LENGTH]}")
