"""What happened when: the faults of a run, for those who judge afterwards whether something had an excuse."""

import collections
import threading
import time
from dataclasses import dataclass


@dataclass
class Fault:
    kind: str
    began: float  # of the monotonic clock
    ended: float = None  # None while it lasts


class Timeline:
    def __init__(self):
        self.began = time.monotonic()
        self._behind_calendar = time.time() - self.began
        self._faults = []
        self._mutex = threading.Lock()

    def begin(self, kind):
        fault = Fault(kind, time.monotonic())
        with self._mutex:
            self._faults.append(fault)
        return fault

    def end(self, fault):
        with self._mutex:
            fault.ended = time.monotonic()

    def end_all(self, *kinds):
        for fault in self.of(*kinds):
            if fault.ended is None:
                self.end(fault)

    def moment(self, kind):
        self.end(self.begin(kind))

    def of_calendar(self, moment):
        """The time of the monotonic clock at a moment of the calendar."""
        return moment.timestamp() - self._behind_calendar

    def note(self, kind, at):
        """A moment that was learnt of later."""
        with self._mutex:
            self._faults.append(Fault(kind, at, at))

    def of(self, *kinds):
        with self._mutex:
            return [fault for fault in self._faults if fault.kind in kinds]

    def lasts(self, *kinds):
        return any(fault.ended is None for fault in self.of(*kinds))

    def overlapping(self, first, last, *kinds):
        """Faults of these kinds that lasted at some time from `first` to `last`."""
        return [
            fault for fault in self.of(*kinds) if fault.began <= last and (fault.ended is None or fault.ended >= first)
        ]

    def beginnings(self, first, last, *kinds):
        return [fault for fault in self.of(*kinds) if first <= fault.began <= last]

    def endings(self, first, last, *kinds):
        return [fault for fault in self.of(*kinds) if fault.ended is not None and first <= fault.ended <= last]

    def extended(self, first, last, slack, *kinds):
        """The end of a span that grows as long as such a fault holds things up, and for `slack` seconds after it."""
        while True:
            ends = [fault.ended or time.monotonic() for fault in self.overlapping(first, last, *kinds)]
            latest = max([last, *[end + slack for end in ends]])
            if latest == last:
                return last
            last = latest

    def counts(self):
        with self._mutex:
            return dict(sorted(collections.Counter(fault.kind for fault in self._faults).items()))

    def show(self, first, last):
        """The faults around a span, for a report."""
        with self._mutex:
            near = [each for each in self._faults if each.began <= last and (each.ended or last) >= first]
        spans = [(each.began - self.began, (each.ended or last) - self.began) for each in near]
        return ", ".join(f"{each.kind} {began:.2f}-{ended:.2f}" for each, (began, ended) in zip(near, spans))
