"""What was promised of tickets, looked at from outside after everything has settled."""

import collections
import hashlib
import time

from patient_client import PatientClient
from ticket_load import NEXT


class TicketPromises:
    def __init__(self, load, verdict):
        self.load, self.verdict = load, verdict
        self.client = PatientClient(load.server.host, load.server.rest_port)

    def check_all(self, seconds):
        states = {}  # of all tickets, by id
        for ticket in self.load.tickets:
            found = self.client.fetch_all(f"/tickets?customer_id={ticket.token}")
            states |= {each["ticket_id"]: each["status"] for each in found}
            self.check_existence(ticket, found)
            if ticket.id in states:
                self._check_contents(ticket)
        for key, same, seen in self.load.repeats:
            self.verdict.check("the same key of a ticket gets the same answer", same, f"{key}: {seen}")
        self._check_lists(states)
        self._check_figures(collections.Counter(states.values()), seconds)

    def check_existence(self, ticket, found):
        ids = [each["ticket_id"] for each in found]
        if ticket.known == "accepted":
            self.verdict.check("a ticket that was opened is there", ticket.id in ids, f"{ticket}: {ids}")
        self.verdict.check("one ticket for each key", len(ids) <= 1, f"{ticket}: {ids}")

    def _check_contents(self, ticket):
        place = f"/tickets/{ticket.id}"
        shown = self.client.fetch(place)
        events = self.client.fetch_all(f"{place}/events?order=oldest")
        ratings = [each["comments"] for each in self.client.fetch_all(f"{place}/feedback")]
        files = {
            each["attachment_id"]: self._digest(f"{place}/attachments/{each['attachment_id']}")
            for each in self.client.fetch(f"{place}/attachments")["data"]
        }
        self.check_ticket(ticket, shown, events, ratings, files)

    def _digest(self, path):
        return hashlib.sha256(self.client.download(path).body).hexdigest()

    def check_ticket(self, ticket, shown, events, ratings, files):
        seen = lambda: f"{ticket}: {shown}, {events}, {ratings}, {files}"  # noqa: E731
        by_day = collections.defaultdict(list)
        for event in events:
            by_day[event["date"]].append(event["number"])
        dense = all(sorted(numbers) == list(range(1, len(numbers) + 1)) for numbers in by_day.values())
        self.verdict.check("the events of a day have dense numbers", dense, seen)
        kept = set(ticket.ratings) <= set(ratings) and ticket.files.items() <= files.items()
        self.verdict.check("what a ticket was given is there", kept, seen)
        if not ticket.is_sure:
            return
        moved = (shown["status"], shown["version"]) == (ticket.status, ticket.version)
        self.verdict.check("a ticket is as its last change left it", moved, seen)
        types = collections.Counter(event["event_type"] for event in events)
        counts = types["ticket_created"], types["status_changed"], types["feedback_received"], types["attachment_added"]
        right = counts == (1, ticket.moves, len(ticket.ratings), len(ticket.files))
        notes = [event["details"]["key"] for event in events if event["event_type"] == "note"]
        right = right and notes == ticket.notes
        self.verdict.check("each change has one event", right, seen)
        once = sorted(ratings) == sorted(ticket.ratings) and files == ticket.files
        self.verdict.check("what a ticket was given is there once", once, seen)

    def _check_lists(self, states):
        for status in NEXT:
            listed = {ticket["ticket_id"] for ticket in self.client.fetch_all(f"/tickets?status={status}")}
            expected = {id for id, each in states.items() if each == status}
            seen = lambda: f"{status}: {listed ^ expected}"  # noqa: B023, E731
            self.verdict.check("tickets are listed by their status", listed == expected, seen)

    def _check_figures(self, expected, seconds):
        """They follow the changes, a little later."""
        end = time.monotonic() + seconds
        while True:
            counted = self.client.fetch("/figures")["tickets_by_status"]
            right = {status: count for status, count in counted.items() if count} == dict(expected)
            if right or time.monotonic() > end:
                break
            self.client.pause.wait(0.2)
        self.verdict.check("figures count what is there", right, f"{counted}, not {expected}")
