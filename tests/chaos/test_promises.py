"""A message that is taken twice and an e-mail that is sent twice are found, and only what could not be known is excused.
Without this, a run without broken promises would mean nothing."""

import sys
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "outbox_e2e"), str(FOLDER.parent / "wire_clients")]

from email_load import EmailLoad, Request, Submitted  # noqa: E402
from email_promises import EmailPromises  # noqa: E402
from message_load import Call  # noqa: E402
from message_promises import MessagePromises  # noqa: E402
from plan import FAULTS, draw_place, make_plan, part_of  # noqa: E402
from planned_smtp import Copy  # noqa: E402
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
