"""What was promised of messages, looked at from outside after everything has settled."""

import collections

# What keeps a queue of the store from forgetting what it has given out. Only its beginning counts: while it lasts, no
# answer is written down either.
REFUSALS = ("full disk", "failed write", "failed sync")
NOTICE_SECONDS = 0.5  # until the server has noticed that the disk is full
CLOCK_FAULTS = ("clock ahead", "clock back")  # a lease ends early if the clock is set meanwhile
BROKER_FAULTS = ("broker cut", "broker stall", "broker away", "broker broke off")
SETTLING_SECONDS = 3  # until a broker has read that messages are settled, on a busy machine; it does not say so


class MessagePromises:
    """`lease_seconds`: for which a message of the store belongs to the call that took it."""

    def __init__(self, timeline, load, verdict, lease_seconds, uses_broker):
        self.timeline, self.load, self.verdict = timeline, load, verdict
        self.lease_seconds, self.uses_broker = lease_seconds, uses_broker

    def check_all(self):
        takers = collections.defaultdict(list)  # by body
        for call in sorted(self.load.consumed, key=lambda call: call.began):
            for body in call.bodies:
                takers[body].append(call)
        for body, produced in self.load.produced.items():
            calls = takers[body]
            if produced.answered is not None:
                self.verdict.check("what was produced is consumed", bool(calls), body)
            self._check_takers(body, produced, calls)
        for body in takers:
            known = body in self.load.produced
            self.verdict.check("nothing is consumed that was not produced", known, body)
        for key, same, seen in self.load.repeats:
            self.verdict.check("the same key of a message call gets the same answer", same, f"{key}: {seen}")

    def _check_takers(self, body, produced, calls):
        promise = "a message is consumed once unless its fate was unknown"
        if len(calls) <= 1:
            self.verdict.check(promise, True, "")
        for first, second in zip(calls, calls[1:]):
            excused = self._may_be_there_twice(produced) or (first is not second and self._may_come_again(first))
            self.verdict.check(promise, excused, lambda: f"{body}: {self._describe(produced, *calls)}")

    def _may_be_there_twice(self, produced):
        """A part of the call may have been done before the part that was noted, or before the broker broke off."""
        if produced.answered is None or produced.is_repeated:
            return True
        faults = self.timeline.overlapping(produced.began, produced.answered, *BROKER_FAULTS)
        return self.uses_broker and bool(faults)

    def _may_come_again(self, first):
        """The answer is written down before the messages in it are settled. What came in between may have kept them
        from being settled: the attempt that took them got no answer, or its lease ended, or something else failed."""
        if first.is_replayed:
            return True
        if self.uses_broker:
            settled = self.timeline.extended(
                first.began, first.answered + SETTLING_SECONDS, SETTLING_SECONDS, "broker stall"
            )
            return bool(self.timeline.overlapping(first.began, settled, "process end", *BROKER_FAULTS))
        began, answered = first.began, first.answered
        if answered - began >= self.lease_seconds:
            return True
        if self.timeline.beginnings(began - NOTICE_SECONDS, answered, *REFUSALS):
            return True
        clock_was_set = self.timeline.beginnings(began, answered, *CLOCK_FAULTS)
        return bool(clock_was_set or self.timeline.endings(began, answered, *CLOCK_FAULTS))

    def _describe(self, *calls):
        timeline, texts = self.timeline, []
        for call in calls:
            ended = "not answered" if call.answered is None else f"answered {call.answered - timeline.began:.2f}"
            repeated = (", repeated" if call.is_repeated else "") + (", replayed" if call.is_replayed else "")
            texts.append(f"{call.key} began {call.began - timeline.began:.2f}, {ended}{repeated}")
        faults = timeline.show(calls[0].began - 3, (calls[-1].answered or calls[-1].began) + 3)
        return f"[{'; '.join(texts)}] among [{faults}]"
