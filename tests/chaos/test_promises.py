"""What is taken, sent or done twice, or is lost, is found, and only what could not be known is excused. Without this, a
run without broken promises would mean nothing."""

import sys
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]

from email_load import EmailLoad, Request, Submitted  # noqa: E402
from email_promises import EmailPromises, token_of  # noqa: E402
from message_load import Call  # noqa: E402
from message_promises import MessagePromises  # noqa: E402
from plan import FAULTS, draw_place, make_plan, part_of  # noqa: E402
from planned_smtp import Copy  # noqa: E402
from reminder_load import Customer  # noqa: E402
from reminder_promises import ReminderPromises  # noqa: E402
from ticket_load import Ticket  # noqa: E402
from ticket_promises import TicketPromises  # noqa: E402
from timeline import Fault, Timeline  # noqa: E402
from verdict import Verdict  # noqa: E402

LEASE_SECONDS = 3
UNKNOWN = "outcome unknown: the server closed the connection"


@pytest.fixture
def timeline():
    return Timeline()


def add(timeline, kind, began, ended=None):
    began += timeline.began
    timeline._faults.append(Fault(kind, began, began if ended is None else ended + timeline.began))


class TestMessages:
    """One message, produced in the second 1 to 2. `takers` are calls with the seconds when they began and ended."""

    def broken(self, timeline, *takers, uses_broker=False, **produced):
        def call(began, answered, **more):
            return Call("key", timeline.began + began, timeline.began + answered, bodies=["m"], **more)

        consumed = [call(began, ended, is_replayed="replayed" in more) for began, ended, *more in takers]
        load = SimpleNamespace(produced={"m": call(1, 2, **produced)}, consumed=consumed, repeats=[])
        verdict = Verdict()
        MessagePromises(timeline, load, verdict, LEASE_SECONDS, uses_broker).check_all()
        return [promise for promise, _ in verdict.broken]

    TWICE = ["a message is consumed once unless its fate was unknown"]

    def test_once_is_fine(self, timeline):
        assert self.broken(timeline, (10, 11)) == []

    def test_a_missing_one_is_found_whatever_happened(self, timeline):
        add(timeline, "process end", 5)
        assert self.broken(timeline) == ["what was produced is consumed"]

    def test_a_fault_at_another_time_is_no_excuse(self, timeline):
        for kind in ("process end", "graceful end", "failed write", "broker cut", "clock ahead"):
            add(timeline, kind, 5)
            add(timeline, kind, 15.5)
        add(timeline, "stop", 5, 8)
        add(timeline, "full disk", 5, 9)
        assert self.broken(timeline, (10, 11), (20, 21)) == self.TWICE
        assert self.broken(timeline, (10, 11), (20, 21), uses_broker=True) == self.TWICE

    @pytest.mark.parametrize("kind", ["failed write", "failed sync", "full disk", "clock ahead", "clock back"])
    def test_what_kept_the_first_from_settling_it_is_an_excuse(self, timeline, kind):
        add(timeline, kind, 10.5, 30)
        assert self.broken(timeline, (10, 11), (20, 21)) == []
        assert self.broken(timeline, (9, 9.5), (20, 21)) == self.TWICE
        assert self.broken(timeline, (12, 13), (20, 21)) == self.TWICE

    def test_the_end_of_a_lease_is_an_excuse(self, timeline):
        assert self.broken(timeline, (10, 10 + LEASE_SECONDS), (20, 21)) == []

    def test_a_lost_answer_is_an_excuse_for_that_call_alone(self, timeline):
        assert self.broken(timeline, (10, 11, "replayed"), (20, 21)) == []
        assert self.broken(timeline, (10, 11), (20, 21, "replayed")) == self.TWICE
        assert self.broken(timeline, (10, 11, "replayed"), (20, 21), (30, 31)) == self.TWICE

    def test_one_call_has_it_once(self, timeline):
        add(timeline, "failed write", 10.5)
        call = Call("key", timeline.began + 10, timeline.began + 11, bodies=["m", "m"])
        produced = Call("other", timeline.began, timeline.began, bodies=["m"])
        load = SimpleNamespace(produced={"m": produced}, consumed=[call], repeats=[])
        verdict = Verdict()
        MessagePromises(timeline, load, verdict, LEASE_SECONDS, False).check_all()
        assert [promise for promise, _ in verdict.broken] == self.TWICE

    def test_what_was_produced_by_a_repeated_call_may_be_there_twice(self, timeline):
        assert self.broken(timeline, (10, 11), (20, 21), is_repeated=True) == []

    @pytest.mark.parametrize("kind", ["broker cut", "broker away", "broker broke off", "process end"])
    def test_a_broker_may_not_have_read_that_it_was_settled(self, timeline, kind):
        add(timeline, kind, 12)
        assert self.broken(timeline, (10, 11), (20, 21), uses_broker=True) == []
        assert self.broken(timeline, (5, 6), (20, 21), uses_broker=True) == self.TWICE


class TestAnswers:
    """What a caller knows of an e-mail after these answers: a code of a 503, None for none, or a document."""

    def known(self, *answers, once=False):
        def reply(answer):
            if answer is None:
                return None
            is_problem = isinstance(answer, str)
            return SimpleNamespace(status=503 if is_problem else 422, json={"code": answer} if is_problem else answer)

        replies = iter([reply(answer) for answer in answers])
        client = SimpleNamespace(
            post=lambda *_: next(replies), pause=SimpleNamespace(wait=lambda _: None)
        )
        email = Submitted("token", {}, "plain")
        load = EmailLoad([SimpleNamespace(host="", rest_port=1)], 1, "")
        load._submit(client, Request(None, {}, [email]), once)
        return email.known

    def one(self, code):
        return {"results": [{"id": "e", "error": {"code": code}}]}

    def test_refused_is_what_was_said_not_to_be_there(self):
        assert self.known("STORE_UNAVAILABLE", once=True) == "refused"
        assert self.known("OVERLOADED", once=True) == "refused"
        assert self.known(self.one("DATABASE_ERROR")) == "refused"
        assert self.known("STORE_UNAVAILABLE", self.one("DUPLICATED_ID")) == "refused"

    def test_what_is_not_known_is_not_refused(self):
        assert self.known("OUTCOME_UNKNOWN", once=True) == "unknown"
        assert self.known(None, once=True) == "unknown"
        assert self.known(self.one("OUTCOME_UNKNOWN")) == "unknown"
        assert self.known(None, self.one("DATABASE_ERROR")) == "unknown"
        assert self.known("OUTCOME_UNKNOWN", self.one("DUPLICATED_ID")) == "accepted"


class TestEmails:
    """A first copy that arrived in second 10 and was answered at once, and a second one in second 16."""

    def is_excused(self, timeline, lines, replied=10.1, cut=None):
        def at(seconds):
            moment = datetime.fromtimestamp(seconds + timeline.began + timeline._behind_calendar, timezone.utc)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

        history = [{"status": status, "at": at(seconds), "reason": reason} for seconds, status, reason in lines]
        mail = SimpleNamespace(id="e")
        cable = SimpleNamespace(cut_at=cut and timeline.began + cut)
        first = Copy(mail, cable, timeline.began + 10, replied and timeline.began + replied)
        second = Copy(mail, cable, timeline.began + 16, timeline.began + 16.1)
        promises = EmailPromises.__new__(EmailPromises)
        promises.world = SimpleNamespace(timeline=timeline)
        return promises._outcome_was_unknown({"history": history}, first, second)

    SENT = [(9, "PROCESSING", ""), (10.2, "SENT", "250")]
    RETURNED = [(9, "PROCESSING", ""), (13, "READY", UNKNOWN), (15, "PROCESSING", ""), (16.2, "SENT", "250")]

    def test_what_was_written_down_is_not_sent_again(self, timeline):
        for kind in ("process end", "stop", "smtp stall", "full disk", "graceful end"):
            add(timeline, kind, 10.1)
        assert not self.is_excused(timeline, self.SENT, cut=10.2)

    def test_the_server_must_have_a_reason_not_to_know(self, timeline):
        add(timeline, "process end", 5)
        add(timeline, "process end", 13.5)
        assert not self.is_excused(timeline, self.RETURNED)
        assert not self.is_excused(timeline, self.RETURNED, cut=15)

    def test_a_lost_reply_is_one(self, timeline):
        assert self.is_excused(timeline, self.RETURNED, replied=None)
        assert self.is_excused(timeline, self.RETURNED, cut=10.05)

    def test_a_lost_reply_may_be_noticed_before_the_mail_server_has_noted_the_message(self, timeline):
        early = [(9, "PROCESSING", ""), (9.5, "READY", UNKNOWN), (15, "PROCESSING", ""), (16.2, "SENT", "250")]
        assert self.is_excused(timeline, early, replied=None, cut=9.45)
        assert not self.is_excused(timeline, early, replied=None)

    @pytest.mark.parametrize("kind", ["process end", "stop", "smtp stall"])
    def test_an_end_before_it_was_written_down_is_one(self, timeline, kind):
        add(timeline, kind, 10.3)
        assert self.is_excused(timeline, self.RETURNED)

    def test_an_end_long_after_is_one_only_if_writing_was_held_up(self, timeline):
        add(timeline, "process end", 12.9 + 0.3)
        late = [(9, "PROCESSING", ""), (15, "READY", UNKNOWN), (15.5, "PROCESSING", "")]
        assert not self.is_excused(timeline, late)
        add(timeline, "full disk", 10, 12)
        assert self.is_excused(timeline, late)

    def test_an_end_in_good_order_is_one_only_if_writing_was_held_up(self, timeline):
        add(timeline, "graceful end", 11)
        assert not self.is_excused(timeline, self.RETURNED)
        add(timeline, "writes refused", 9, 14)
        assert self.is_excused(timeline, self.RETURNED)

    def test_the_note_of_another_attempt_does_not_count(self, timeline):
        add(timeline, "process end", 10.3)
        before = [(7, "PROCESSING", ""), (8, "READY", UNKNOWN), *self.SENT]
        after = [*self.SENT, (17, "READY", UNKNOWN)]
        assert not self.is_excused(timeline, before)
        assert not self.is_excused(timeline, after)


    def test_e_mails_of_services_are_known_by_their_tags(self):
        assert token_of({"tags": ["0-1-0"]}) == "0-1-0"
        assert token_of({"tags": ["reminder", "first", "customer:reminder-1"]}) == "reminder-1"
        assert token_of({"tags": ["support", "ticket-1"]}) == "ticket-1"


class TestReminders:
    """A customer for whom there are two drafts, the first of which was approved and sent as e-mail e."""

    def customer(self, **more):
        email = Submitted("reminder-1", {"to": []}, "plain", "accepted", "e")
        return Customer(email, True, ["d1", "d2"], approved=[("d1", "e")], **more)

    def reminder(self, draft="d1", email="e", status="sent"):
        return {"id": f"r of {draft}", "draft_id": draft, "email_id": email, "delivery_status": status}

    def promises(self, **copies):
        load = SimpleNamespace(server=SimpleNamespace(host="", rest_port=1), repeats=[])
        copies = {email: [SimpleNamespace(arrived_at=at) for at in times] for email, times in copies.items()}
        return ReminderPromises(load, Verdict(), copies, asks_before_sending=True)

    def broken(self, customer, history, approved, waiting):
        promises = self.promises()
        promises.check_records(customer, history, approved, waiting)
        return [promise for promise, _ in promises.verdict.broken]

    def test_one_reminder_is_fine(self):
        assert self.broken(self.customer(), [self.reminder()], {"d1"}, {"d2"}) == []

    def test_a_lost_one_is_found(self):
        promises = ["what was approved is on record", "an approval is done as a whole"]
        assert self.broken(self.customer(), [], {"d1"}, {"d2"}) == promises

    def test_a_second_one_is_found(self):
        both = [self.reminder(), self.reminder("d2", "f")]
        promises = ["a customer gets a reminder once", "of several approvals one succeeds"]
        assert self.broken(self.customer(), both, {"d1", "d2"}, set()) == promises

    def test_a_draft_that_was_made_twice_is_found(self):
        twice = {"d2", "d3"}
        assert self.broken(self.customer(), [self.reminder()], {"d1"}, twice) == ["a draft is made once for each key"]
        unanswered = self.customer(are_drafts_known=False)
        assert self.broken(unanswered, [self.reminder()], {"d1"}, twice) == []

    def test_an_approval_without_an_answer_may_have_been_done_or_not(self):
        unanswered = self.customer(is_decided=False)
        unanswered.approved.clear()
        assert self.broken(unanswered, [], set(), {"d1", "d2"}) == []
        assert self.broken(unanswered, [self.reminder()], {"d1"}, {"d2"}) == []
        unanswered.is_decided = True
        assert self.broken(unanswered, [], set(), {"d1", "d2"}) == ["of several approvals one succeeds"]

    @pytest.mark.parametrize("status, said, right", [("SENT", "sent", 1), ("SENT", "queued", 0), ("CANCELLED", "sent", 0)])
    def test_a_reminder_that_says_something_else_than_its_e_mail_is_found(self, status, said, right):
        promises = self.promises()
        promises.check_deliveries([self.reminder(status=said)], {"e": {"status": status}})
        assert (promises.verdict.broken == []) == bool(right)

    @pytest.mark.parametrize("hands_over, said, right", [(True, "cancelled", 1), (True, "sent", 0), (False, "cancelled", 0)])
    def test_one_without_an_e_mail_was_stopped_before_that_was_handed_over(self, hands_over, said, right):
        promises = self.promises()
        promises.hands_over = hands_over
        promises.check_deliveries([self.reminder(status=said)], {})
        assert (promises.verdict.broken == []) == bool(right)

    @pytest.mark.parametrize(
        "named, arrived, right",
        [
            (None, [9], True),
            (None, [11], False),
            ("cancelled_reminders", [9], False),
            ("reminders_being_sent", [99], True),
            ("reminders_perhaps_sent", [9, 11], True),
            ("reminders_perhaps_sent", [16], False),
            ("reminders_not_cancelled", [11], False),
        ],
    )
    def test_what_goes_out_after_a_stop_is_found(self, named, arrived, right):
        kinds = ["cancelled_reminders", "reminders_being_sent", "reminders_perhaps_sent", "reminders_not_cancelled"]
        stop = {kind: ["r of d1"] if kind == named else [] for kind in kinds}
        promises = self.promises(e=arrived)
        promises.check_stop(self.customer(stop=stop, stopped_at=10), [self.reminder()])
        assert (promises.verdict.broken == []) == right


class TestTickets:
    """A ticket that was moved once, and has one rating and one file."""

    def ticket(self, **more):
        given = {"ratings": ["a"], "files": {"f": "digest"}, "version": 2, "moves": 1, "status": "PROCESSING"}
        return Ticket("ticket-1", "t", "accepted", **{**given, **more})

    def events(self, *types):
        types = types or ("ticket_created", "status_changed", "feedback_received", "attachment_added")
        return [{"date": "d", "number": number, "event_type": type} for number, type in enumerate(types, 1)]

    def broken(self, ticket, status="PROCESSING", version=2, events=None, ratings=("a",), files=None):
        promises = TicketPromises(SimpleNamespace(server=SimpleNamespace(host="", rest_port=1)), Verdict())
        shown = {"status": status, "version": version}
        files = {"f": "digest"} if files is None else files
        promises.check_ticket(ticket, shown, events or self.events(), list(ratings), files)
        return [promise for promise, _ in promises.verdict.broken]

    def test_what_is_as_it_was_told_is_fine(self):
        assert self.broken(self.ticket()) == []

    def test_a_move_that_was_lost_or_done_twice_is_found(self):
        promises = ["a ticket is as its last change left it"]
        assert self.broken(self.ticket(), status="NEW", version=1) == promises
        assert self.broken(self.ticket(), version=3) == promises

    def test_what_was_lost_is_found_also_where_other_outcomes_are_unknown(self):
        for sure in (True, False):
            assert "what a ticket was given is there" in self.broken(self.ticket(is_sure=sure), ratings=())
            assert "what a ticket was given is there" in self.broken(self.ticket(is_sure=sure), files={"f": "other"})

    def test_what_is_there_twice_is_found(self):
        assert self.broken(self.ticket(), ratings=("a", "a")) == ["what a ticket was given is there once"]
        assert self.broken(self.ticket(), files={"f": "digest", "g": "digest"}) == ["what a ticket was given is there once"]
        assert self.broken(self.ticket(is_sure=False), ratings=("a", "b")) == []

    def test_an_event_that_is_missing_or_there_twice_is_found(self):
        fewer = self.events("ticket_created", "status_changed", "feedback_received")
        assert self.broken(self.ticket(), events=fewer) == ["each change has one event"]
        gap = self.events()
        gap[3]["number"] = 5
        assert self.broken(self.ticket(), events=gap) == ["the events of a day have dense numbers"]

    def test_a_second_ticket_of_one_key_is_found(self):
        promises = TicketPromises(SimpleNamespace(server=SimpleNamespace(host="", rest_port=1)), Verdict())
        promises.check_existence(self.ticket(), [{"ticket_id": "t"}, {"ticket_id": "u"}])
        promises.check_existence(self.ticket(), [])
        broken = [promise for promise, _ in promises.verdict.broken]
        assert broken == ["one ticket for each key", "a ticket that was opened is there"]


class TestPlans:
    def test_every_fault_is_drawn_if_there_is_time(self):
        steps = make_plan(1, 600, list(FAULTS))
        assert {step.fault for step in steps} == set(FAULTS)
        assert [vars(step) for step in steps] == [vars(step) for step in make_plan(1, 600, list(FAULTS))]

    def test_one_thing_breaks_in_one_way_at_a_time(self):
        busy = {}
        for step in make_plan(2, 600, list(FAULTS)):
            assert busy.get(part_of(step.fault), 0) <= step.at, step
            busy[part_of(step.fault)] = step.at + step.seconds

    def test_some_clocks_are_wrong_for_longer_than_leases(self):
        lengths = [step.seconds for step in make_plan(3, 2_000, list(FAULTS)) if "clock" in step.fault]
        assert min(lengths) < LEASE_SECONDS and max(lengths) > 5 * LEASE_SECONDS

    def test_the_seed_decides_on_the_settings(self):
        drawn = {draw_place(seed, "mysql") for seed in range(200)}
        assert len(drawn) == 12, "files or not, resend or hold, one to three servers"
        assert {servers for _, _, servers in (draw_place(seed, "store") for seed in range(50))} == {1}
