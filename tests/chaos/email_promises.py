"""What was promised of e-mails, looked at from outside after everything has settled."""

import collections
import time
from datetime import datetime

from legal_history import NEXT
from planned_smtp import plan_of

FINAL = {"SENT", "FAILED", "INVALID", "SENT-ACKNOWLEDGED", "FAILED-ACKNOWLEDGED", "INVALID-ACKNOWLEDGED", "CANCELLED"}
RECORD_SECONDS = 3  # for the writing of an outcome, on a busy machine
CORRECTION_SECONDS = 10  # by which a clock may be set without being suspected
# What keeps a server from writing down what it knows.
HOLD_UPS = ("stop", "full disk", "slow disk", "failed write", "failed sync", "writes refused")
HOLD_UPS += ("database cut", "a COMMIT that was cut", "database stall", "database away", "database kill")
HOLD_UPS += ("database only reads", "database rows locked")
CLOCK_AHEAD = ("clock ahead", "database clock ahead")
CLOCK_SET = (*CLOCK_AHEAD, "clock back", "database clock back")
ENDS = ("process end", "stop")
MOMENT_SECONDS = 0.02  # between what the server and the mail server write down of the same moment


def token_of(email):
    """It is in the tags: of reminders and of letters of tickets behind the tags that these services give."""
    tags = email["tags"]
    if tags[0] == "reminder":
        return next(tag.removeprefix("customer:") for tag in tags if tag.startswith("customer:"))
    return tags[1] if tags[0] == "support" else tags[0]


class EmailPromises:
    def __init__(self, world, verdict):
        self.world, self.verdict = world, verdict
        self.client = world.emails.new_client()
        self.by_token = {email.token: email for email in world.submitted()}

    def listed(self):
        """All e-mails that there are, by id, without their history."""
        found, cursor = {}, ""
        while cursor is not None:
            page = self.client.fetch("/emails?limit=100" + (f"&cursor={cursor}" if cursor else ""))
            found.update({email["id"]: email for email in page["data"]})
            cursor = page["cursor"]
        return found

    def is_final(self, email):
        """Also told to whom it may concern."""
        submitted = self.by_token.get(token_of(email))
        if submitted is None or email["status"] not in FINAL:
            return email["status"] == "HELD" and self.world.holds_unknown
        told = email["status"].endswith("ACKNOWLEDGED") or email["status"] == "CANCELLED"
        return told if submitted.has_callback else not told or email["status"] == "CANCELLED"

    def copies(self):
        """What the mail server has taken, by id."""
        copies = collections.defaultdict(list)
        for copy in self.world.smtp.copies:
            copies[copy.id].append(copy)
        return copies

    def await_settled(self, seconds):
        """Until all e-mails are final, also those that follow what was approved. Returns those that are not."""
        for email in self.listed().values():  # only the server knows of some
            submitted = self.by_token.get(token_of(email))
            if submitted and submitted.kind == "cancelled" and not submitted.cancelled:
                submitted.id = email["id"]
                self.world.emails.cancel(self.client, submitted)
        end = time.monotonic() + seconds
        while True:
            emails = self.listed()
            left = [email for email in emails.values() if not self.is_final(email)]
            tokens = {token_of(email) for email in emails.values()}
            missing = [each for each in self.by_token.values() if self._must_be_there(each) and each.token not in tokens]
            if time.monotonic() > end or (not left and not missing):
                return left
            self.client.pause.wait(0.5)

    def check_all(self, unsettled):
        emails, copies = self.listed(), self.copies()
        self._check_existence(emails)
        self._check_counts(emails)
        for identifier in emails:
            email = self.client.fetch(f"/emails/{identifier}")
            submitted = self.by_token.get(token_of(email))
            if submitted is None:
                self.verdict.check("nothing appears that was not handed in", False, email)
                continue
            self._check_history(email)
            self._check_outcome(email, submitted, copies.get(identifier, []))
            self._check_copies(email, submitted, copies.get(identifier, []))
        for identifier, unasked in copies.items():
            self.verdict.check("only what is on record is sent", identifier in emails, lambda: self._describe(unasked))
        for email in unsettled:
            self.verdict.check("every e-mail reaches a final state", False, email)
        self._check_callbacks(emails)
        self._check_keys()

    def _must_be_there(self, submitted):
        """An approved reminder that was stopped before the ledger got its e-mail never becomes one."""
        return submitted.known == "accepted" and not (submitted.kind == "stopped" and self.world.hands_over)

    def _check_existence(self, emails):
        by_token = collections.defaultdict(list)
        for email in emails.values():
            by_token[token_of(email)].append(email["id"])
        for submitted in self.by_token.values():
            ids = by_token[submitted.token]
            if self._must_be_there(submitted):
                held = submitted.id in ids if submitted.id else bool(ids)  # callers are not told ids of letters
                self.verdict.check("what was accepted is there", held, lambda: f"{submitted}, there: {ids}")
            if submitted.known == "refused":
                self.verdict.check("what was refused is not there", not ids, lambda: f"{submitted}, there: {ids}")
            self.verdict.check("one e-mail for each that was handed in", len(ids) <= 1, lambda: f"{submitted}: {ids}")

    def _check_counts(self, emails):
        counts = self.client.fetch("/emails/counts")["counts"]
        states = collections.Counter(email["status"] for email in emails.values())
        for state, count in counts.items():
            self.verdict.check("the counts are right", states[state] == count, f"{state}: {count}, not {states[state]}")

    def _check_history(self, email):
        lines = [line for line in email["history"] if line["status"] != "BOUNCED"]
        states = [None, *[line["status"] for line in lines]]
        legal = all(after in NEXT[before] for before, after in zip(states, states[1:]))
        whole = states[-1] == email["status"] and email["version"] == len(lines)
        self.verdict.check("the history is legal", legal and whole, email)

    def _check_outcome(self, email, submitted, copies):
        plans = [plan_of(address)[0] for address in submitted.recipients]
        status = email["status"].removesuffix("-ACKNOWLEDGED")
        expected = "FAILED" if all(plan == "gone" for plan in plans) else "SENT"
        if submitted.kind == "invalid":
            expected = "INVALID"
        if submitted.kind == "cancelled":
            expected = "CANCELLED"
        if status == "HELD" and self.world.holds_unknown and expected == "SENT":
            return
        if submitted.kind == "stopped" and status == "CANCELLED":
            return
        self.verdict.check("the outcome is right", status == expected, lambda: f"{expected} expected of {email}")
        if status != expected or status != "SENT":
            return
        arrived = {address for copy in copies for address in copy.mail.recipients}
        for recipient in email["recipients"]:
            gone = plan_of(recipient["address"])[0] == "gone"
            said = "refused" if gone else "sent"
            settled = recipient["status"] == said
            self.verdict.check("each recipient is settled", settled, lambda: f"{recipient} of {email}")
            if not gone:
                has_it = recipient["address"] in arrived
                self.verdict.check("what was sent has arrived", has_it, lambda: f"{recipient} of {email}")

    def _check_copies(self, email, submitted, copies):
        if submitted.kind in ("invalid", "cancelled"):
            seen = lambda: f"{email}: {self._describe(copies)}"
            self.verdict.check("what shall not be sent is not sent", not copies, seen)
        by_recipient = collections.defaultdict(list)
        for copy in copies:
            intact = copy.mail.message["Subject"] == f"Token {submitted.token}" and (
                copy.mail.text().strip().startswith(f"This is {submitted.token}.")
            )
            seen = lambda: f"{email}: {copy.mail.content[:500]}"
            self.verdict.check("what is sent is what was handed in", intact, seen)
            if submitted.not_before is not None:
                self._check_time(email, submitted, copy)
            for address in copy.mail.recipients:
                by_recipient[address].append(copy)
        for address, received in by_recipient.items():
            received.sort(key=lambda copy: copy.arrived_at)
            for first, second in zip(received, received[1:]):
                excused = not self.world.holds_unknown and self._outcome_was_unknown(email, first, second)
                self.verdict.check(
                    "twice only if the outcome was unknown",
                    excused,
                    lambda: f"{address}: {self._describe(received)}\n    {email['history']}",
                )
            if len(received) == 1:
                self.verdict.check("twice only if the outcome was unknown", True, "")

    def _check_time(self, email, submitted, copy):
        """The server's clock and ours are the same, but for corrections that it follows; both count in milliseconds. A
        clock that is set back stands still until time has caught up."""
        since = copy.arrived_at - CORRECTION_SECONDS
        corrected = self.world.timeline.overlapping(since, copy.arrived_at, *CLOCK_AHEAD)
        early = submitted.not_before - copy.arrived_at
        self.verdict.check(
            "nothing is sent before its time",
            early <= (CORRECTION_SECONDS if corrected else 0.01),
            lambda: f"{early:.2f} s early: {email}: {self._describe([copy])}",
        )

    def _outcome_was_unknown(self, email, first, second):
        """The server says in the history, between the two, that it does not know what became of the first one. And
        that is true: something has happened after which it could not know."""
        # On a busy machine the mail server may note an arrival only after the other end has noticed the cut.
        cut_at = first.cable.cut_at if first.cable else None
        was_there = min(first.arrived_at, cut_at or first.arrived_at)
        return any(
            self._could_not_know(first, min(until, second.arrived_at))
            for since, until in self._unknown_outcomes(email)
            if until >= was_there and since <= second.arrived_at
        )

    def _unknown_outcomes(self, email):
        """When they were written down: spans, because the server's clock may have been corrected at that time."""
        timeline, spans = self.world.timeline, []
        for line in email["history"]:
            if line["status"] == "READY" and "outcome unknown" in line["reason"]:
                at = timeline.of_calendar(datetime.fromisoformat(line["at"].replace("Z", "+00:00")))
                around = at - 2 * CORRECTION_SECONDS, at + 2 * CORRECTION_SECONDS
                corrected = timeline.overlapping(*around, *CLOCK_SET)
                slack = CORRECTION_SECONDS if corrected else MOMENT_SECONDS
                spans.append((at - slack, at + slack))
        return spans

    def _could_not_know(self, first, last):
        """The connection was cut or held up before the reply was read, or the server ended or stood still before it had
        written down what it read: it does so at once, unless it is held up. `last` is when it said that the outcome is
        unknown. (The mail server has not replied if the other end was gone.)"""
        if first.replied_at is None:
            return True
        timeline, soon = self.world.timeline, min(last, first.replied_at + RECORD_SECONDS)
        if first.cable.cut_at is not None and first.cable.cut_at <= soon:
            return True
        if timeline.overlapping(first.arrived_at, soon, "smtp stall"):
            return True
        last = min(last, timeline.extended(first.arrived_at, soon, RECORD_SECONDS, *HOLD_UPS))
        if timeline.overlapping(first.arrived_at, last, *ENDS):
            return True
        held_up = timeline.overlapping(first.arrived_at, last, *HOLD_UPS)
        return bool(held_up and timeline.overlapping(first.arrived_at, last, "graceful end"))

    def _describe(self, copies):
        timeline = self.world.timeline
        began = timeline.began
        texts = []
        for copy in copies:
            replied = "no reply" if copy.replied_at is None else f"replied {copy.replied_at - began:.2f}"
            cut = f", cut {copy.cable.cut_at - began:.2f}" if copy.cable and copy.cable.cut_at else ""
            texts.append(f"arrived {copy.arrived_at - began:.2f}, {replied}{cut}")
        faults = timeline.show(copies[0].arrived_at - 3, copies[-1].arrived_at + 3) if copies else ""
        return f"[{'; '.join(texts)}] among [{faults}]"

    def _check_callbacks(self, emails):
        calls = collections.defaultdict(list)
        for call in self.world.callbacks.calls:
            calls[call.path.rpartition("/")[2]].append(call)
            signed = call.is_signed_with(self.world.secret)
            self.verdict.check("callbacks are signed", signed, lambda: f"{call.path} {call.headers}")
        codes = {"SENT": "TRAVELING", "FAILED": "DISPATCH-ERROR", "INVALID": "DISPATCH-ERROR"}
        for email in emails.values():
            submitted = self.by_token.get(token_of(email))
            state = email["status"].removesuffix("-ACKNOWLEDGED")
            if submitted is None or not submitted.has_callback or state not in codes:
                continue
            told = calls[submitted.token]
            self.verdict.check("who asked to be told is told", bool(told), email)
            same = len({(call.id, call.body) for call in told}) <= 1
            right = all(call.json["code"] == codes[state] for call in told)
            right = right and all(call.json["message_ids"] == [email["id"]] for call in told)
            bodies = [call.body for call in told]
            self.verdict.check("callbacks tell what happened", same and right, lambda: f"{email}: {bodies}")

    def _check_keys(self):
        for request in self.world.emails.keyed[-150:]:
            self.world.emails.repeat(self.client, request)
        for key, same, seen in self.world.emails.repeats:
            self.verdict.check("the same key gets the same answer", same, f"{key}: {seen}")
