"""What was promised of payment reminders, looked at from outside after everything has settled."""

import time

from patient_client import PatientClient

# What a reminder says of an e-mail in this state.
SAID = {
    "SENT": {"sent"},
    "CANCELLED": {"cancelled", "unknown"},
    "HELD": {"queued"},
    "FAILED": {"failed", "bounced"},
}
LATE_NOTE_SECONDS = 3  # until a busy mail server has noted what came before its connection was cut


class ReminderPromises:
    """`asks_before_sending`: every server that sends asks whether the customer still gets reminders. `hands_over`: an
    e-mail gets into the outbox after the approval, unless the reminder is stopped before."""

    def __init__(self, load, verdict, copies, asks_before_sending, hands_over=False):
        self.load, self.verdict, self.copies = load, verdict, copies
        self.asks_before_sending, self.hands_over = asks_before_sending, hands_over
        self.client = PatientClient(load.server.host, load.server.rest_port)

    def check_all(self, emails, seconds):
        """`emails`: those of the outbox, by id."""
        end = time.monotonic() + seconds
        for customer in self.load.customers:
            if not customer.is_there:
                continue
            place = f"/reminders/drafts?customer_id={customer.id}&status="
            approved = {draft["id"] for draft in self.client.fetch_all(place + "approved")}
            waiting = {draft["id"] for draft in self.client.fetch_all(place + "draft")}
            history = self._settled_history(customer, emails, end)
            self.check_records(customer, history, approved, waiting)
            self.check_deliveries(history, emails)
            self.check_stop(customer, history)
        for key, same, seen in self.load.repeats:
            self.verdict.check("the same key gets the same draft", same, f"{key}: {seen}")

    def _settled_history(self, customer, emails, end):
        """What becomes of an e-mail is written down a little later than it happens."""
        path = f"/reminders/customers/{customer.id}/history"
        while True:
            history = self.client.fetch_all(path)
            if all(self._is_told(reminder, emails) for reminder in history) or time.monotonic() > end:
                return history
            self.client.pause.wait(0.2)

    def _is_told(self, reminder, emails):
        email = emails.get(reminder["email_id"])
        if email is None:
            return self.hands_over and reminder["delivery_status"] == "cancelled"
        return reminder["delivery_status"] in SAID.get(email["status"], ())

    def check_records(self, customer, history, approved, waiting):
        seen = lambda: f"{customer}: history {history}, approved {approved}, waiting {waiting}"  # noqa: E731
        records = [(reminder["draft_id"], reminder["email_id"]) for reminder in history]
        for told in customer.approved:
            self.verdict.check("what was approved is on record", told in records, seen)
        self.verdict.check("a customer gets a reminder once", len(history) <= 1 and len(approved) <= 1, seen)
        whole = {draft for draft, _ in records} == approved
        self.verdict.check("an approval is done as a whole", whole, seen)
        if customer.drafts and customer.is_decided:
            self.verdict.check("of several approvals one succeeds", len(approved) == 1, seen)
        there, told = approved | waiting, set(customer.drafts)
        right = there == told if customer.are_drafts_known else there >= told
        self.verdict.check("a draft is made once for each key", right, seen)

    def check_deliveries(self, history, emails):
        for reminder in history:
            email = emails.get(reminder["email_id"])
            seen = lambda: f"{reminder}: {email}"  # noqa: B023, E731
            self.verdict.check("a reminder says what became of its e-mail", self._is_told(reminder, emails), seen)

    def check_stop(self, customer, history):
        """Nothing goes out after the answer but what it names as being sent. What it names as cancelled never did."""
        if customer.stop is None or not self.asks_before_sending:
            return
        for reminder in history:
            copies = self.copies.get(reminder["email_id"], [])
            allowed = float("-inf") if reminder["id"] in customer.stop["cancelled_reminders"] else customer.stopped_at
            if reminder["id"] in customer.stop["reminders_perhaps_sent"]:
                allowed += LATE_NOTE_SECONDS
            if reminder["id"] in customer.stop["reminders_being_sent"]:
                allowed = float("inf")
            late = [copy.arrived_at - customer.stopped_at for copy in copies if copy.arrived_at > allowed]
            seen = lambda: f"{late} s after the answer: {customer}: {reminder}"  # noqa: B023, E731
            self.verdict.check("after a stop nothing goes out but what was named", not late, seen)
