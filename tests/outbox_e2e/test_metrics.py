"""Live metrics from the changes of tables, as programs of others see them: the table of metrics, the REST API, events, and
subscribers."""

import http.client
import json
import random
import socket
import subprocess
import urllib.request
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from callback_server import CallbackServer
from described_rest import DescribedRest
from payloads import payload
from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually

TICKETS = "prod-tickets-unified"
STATUSES = ("NEW", "PROCESSING", "READY", "FAILED", "ESCALATED")
# The desk of others, below, is the only one that writes tickets.
AT_ONCE = ("--metrics-window", "0s", "--no-ticket-adoption")


class Desk:
    """Writes tickets as the program of others does that has always written them, and reads the metrics as it does."""

    def __init__(self, server):
        self.resource = dynamodb(server, "resource")
        self.tickets = self.resource.Table(TICKETS)
        client = dynamodb(server)
        if TICKETS not in client.list_tables()["TableNames"]:
            keys = (("PK", "HASH"), ("SK", "RANGE"))
            client.create_table(
                TableName=TICKETS,
                KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
                BillingMode="PAY_PER_REQUEST",
                StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            )

    @staticmethod
    def key(identifier, tenant=""):
        return {"PK": (f"TENANT#{tenant}#" if tenant else "") + f"TICKET#{identifier}", "SK": "METADATA"}

    def put(self, identifier, status="NEW", tenant="", **more):
        now = datetime.now(timezone.utc).replace(tzinfo=None).isoformat()
        item = {**self.key(identifier, tenant), "entity_type": "ticket", "status": status, "created_at": now, **more}
        self.tickets.put_item(Item=item)

    def move(self, identifier, status, tenant=""):
        self.tickets.update_item(
            Key=self.key(identifier, tenant),
            UpdateExpression="SET #s = :s",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":s": status},
        )

    def resolve(self, identifier, seconds):
        created = datetime(2026, 1, 2, 3, 4, 5)
        self.put(
            identifier, "READY", created_at=created.isoformat(), completed_at=(created + timedelta(seconds=seconds)).isoformat()
        )

    def rate(self, identifier, rating):
        now = datetime.now(timezone.utc).replace(tzinfo=None).isoformat()
        self.tickets.put_item(
            Item={"PK": f"TICKET#{identifier}", "SK": f"FEEDBACK#{now}", "rating": rating, "submitted_at": now}
        )

    # As its dashboard reads them.

    def counts_by_status(self):
        response = self.resource.batch_get_item(
            RequestItems={"prod-metrics": {"Keys": [{"metric_name": f"tickets_by_status#{status}"} for status in STATUSES]}}
        )
        counts = {}
        for item in response["Responses"]["prod-metrics"]:
            counts[item["metric_name"].split("#")[1]] = item.get("count_value", 0)
        return counts

    def average_resolution_time(self):
        item = self.resource.Table("prod-metrics").get_item(Key={"metric_name": "avg_resolution_time"}).get("Item", {})
        count = int(item.get("count_value", 1))
        return float(item.get("total_time", 0)) / count if count > 0 else 0

    def true_counts(self):
        counts, more = dict.fromkeys(STATUSES, 0), {}
        while True:
            page = self.tickets.scan(ConsistentRead=True, **more)
            for item in page["Items"]:
                if item["SK"] == "METADATA" and not item["PK"].startswith("TENANT#"):
                    counts[item["status"]] += 1
            if "LastEvaluatedKey" not in page:
                return counts
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


class Watcher:
    """A client of server-sent events."""

    def __init__(self, server, path="/figures/live", key=None, last_event=None):
        host, port = server.url.removeprefix("http://").split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_SECONDS)
        headers = {"Accept": "text/event-stream"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        if last_event:
            headers["Last-Event-ID"] = last_event
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()

    def events(self):
        event = {}
        for line in self.response:
            line = line.decode().rstrip("\n")
            if not line:
                if "data" in event:
                    yield event
                event = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                event[name] = value

    def await_figures(self, condition):
        for event in self.events():
            figures = json.loads(event["data"])
            if condition(figures):
                return event["id"], figures
        raise AssertionError("the events have ended")

    def close(self):
        self.connection.close()


def await_counts(desk, **expected):
    whole = {**dict.fromkeys(STATUSES, 0), **expected}
    eventually(lambda: desk.counts_by_status() == whole, f"{whole}, not {desk.counts_by_status()}")


def prometheus(server):
    with urllib.request.urlopen(server.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
        return answer.read().decode()


def by_status(figures):
    return {status: count for status, count in figures["tickets_by_status"].items() if count}


class TestFigures:
    def test_programs_of_others_read_what_they_wrote_themselves_before(self, start):
        server = start(*AT_ONCE)
        desk = Desk(server)
        desk.put("a")
        desk.put("b")
        desk.move("b", "PROCESSING")
        desk.resolve("c", 90)
        desk.resolve("d", 30.5)
        desk.rate("c", 5)
        desk.rate("d", 2)
        await_counts(desk, NEW=1, PROCESSING=1, READY=2)
        eventually(lambda: desk.average_resolution_time() == 60.25, "the average")
        satisfaction = eventually(
            lambda: (
                item := desk.resource.Table("prod-metrics").get_item(Key={"metric_name": "customer_satisfaction"})["Item"]
            )["count_value"]
            == 2
            and item
        )
        assert satisfaction["total_ratings"] == 7

    def test_the_dashboard_is_one_call(self, start):
        server = start(*AT_ONCE)
        desk = Desk(server)
        rest = server.rest()
        desk.put("a", tenant="acme")
        desk.put("b")
        desk.resolve("c", 60)
        eventually(lambda: by_status(rest.fetch("/figures")) == {"NEW": 2, "READY": 1}, "the figures")
        figures = rest.fetch("/figures")
        assert figures["avg_resolution_time"] == {"count": 1, "total": 60, "average": 60}
        assert figures["customer_satisfaction"] == {"count": 0, "total": 0, "average": 0}
        assert "tickets" in {source["name"] for source in figures["sources"]}
        assert by_status(rest.fetch("/figures", scope="company")) == {"NEW": 1, "READY": 1}
        assert by_status(rest.fetch("/figures", scope="tenants")) == {"NEW": 1}
        assert by_status(rest.fetch("/figures", tenant="acme")) == {"NEW": 1}
        assert by_status(rest.fetch("/figures", tenant="other")) == {}
        assert rest.get("/figures", tenant="a", scope="company").broken_rules == {
            "scope": "must not be given together with tenant"
        }
        assert rest.get("/figures", tenant="*").broken_rules == {"tenant": "must be the name of a tenant"}
        assert rest.get("/figures", scope="all").broken_rules == {"scope": "must be everybody, company or tenants"}
        text = prometheus(server)
        assert 'postino_tickets_by_status{kind="NEW"} 2\n' in text
        assert 'postino_metrics_follows{follower="tickets"} 1\n' in text

    def test_emails_are_counted_by_the_outbox_itself(self, start):
        server = start(*AT_ONCE)
        rest = server.rest()
        rest.await_outcome(rest.accept_one(payload()))
        assert rest.fetch("/figures")["emails_by_state"]["SENT"] == 1
        assert rest.fetch("/figures", tenant="acme")["emails_by_state"]["SENT"] == 0
        assert "emails_by_state" not in rest.fetch("/figures", scope="company"), "this is not known"
        assert rest.get("/figures/emails/history").status == 404
        assert rest.fetch("/figures")["reminders_by_status"]["draft"] == 0
        figures = next(Watcher(server).events())
        assert json.loads(figures["data"])["emails_by_state"]["SENT"] == 1

    @pytest.mark.store_only
    def test_emails_have_a_history_if_that_is_wanted(self, start):
        server = start(*AT_ONCE, "--email-metrics")
        rest = server.rest()
        rest.await_outcome(rest.accept_one(payload()))
        for query in ({}, {"scope": "company"}):
            eventually(lambda: rest.fetch("/figures", **query)["emails_by_state"]["SENT"] == 1, "an e-mail that was sent")
        hours = rest.fetch("/figures/emails/history", unit="hours")["data"]
        assert sum(point.get("emails_accepted", {}).get("count", 0) for point in hours) == 1
        assert sum(point.get("emails_settled#SENT", {}).get("count", 0) for point in hours) == 1

    def test_history_is_for_charts(self, start):
        server = start(*AT_ONCE)
        desk, rest = Desk(server), server.rest()
        now = datetime.now(timezone.utc).replace(microsecond=0)
        moments = [now - timedelta(minutes=2), now - timedelta(minutes=1), now - timedelta(days=3), now - timedelta(days=80)]
        for number, moment in enumerate(moments):
            desk.put(str(number), created_at=moment.isoformat())
        await_counts(desk, NEW=4)
        created = lambda **query: [
            (point["begin"], point["tickets_created"]["count"])
            for point in rest.fetch("/figures/tickets/history", **query)["data"]
        ]
        minutes = created(unit="minutes")
        assert [count for _, count in minutes] == [1, 1]
        assert minutes[0][0] == moments[0].strftime("%Y-%m-%dT%H:%M:00.000Z")
        assert sum(count for _, count in created(unit="hours")) == 3, "of seven days"
        days = created(unit="days")
        assert sum(count for _, count in days) == 4
        assert days[0][0] == moments[3].strftime("%Y-%m-%dT00:00:00.000Z")
        assert rest.get("/figures/weather/history").problem["code"] == "SOURCE_NOT_FOUND"
        assert rest.get("/figures/tickets/history", unit="years").broken_rules == {"unit": "must be minutes, hours or days"}
        early = (now - timedelta(days=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert "since" in rest.get("/figures/tickets/history", unit="minutes", since=early).broken_rules
        refused = rest.get("/figures/tickets/history", since=early, until=early)
        assert refused.broken_rules == {"until": "must be later than since"}
        day = moments[2].strftime("%Y-%m-%d")
        assert [count for _, count in created(unit="days", since=day, until=day)] == [1]


class TestWhoSeesWhat:
    KEYS = (
        "--api-key=boss:operator:operator-secret-0",
        "--api-key=view:reader:reader-secret-000",
        "--api-key=acme:reader@acme:acme-secret-00000",
        "--api-key=acme-boss:operator@acme:acme-operator-00",
        "--api-key=ada:customer@acme/cust_1:customer-secret-0",
        "--api-key=agent:agent/cust_1:bound-agent-secret",
        "--access-key=postino:secret",
    )

    def test_tenants_see_their_own_and_customers_nothing(self, start):
        server = start(*AT_ONCE, *self.KEYS)
        desk = Desk(server)
        desk.put("a", tenant="acme")
        desk.put("b", tenant="zeta")
        desk.put("c")
        company, acme = server.rest("reader-secret-000"), server.rest("acme-secret-00000")
        eventually(lambda: by_status(company.fetch("/figures")) == {"NEW": 3}, "all of them")
        assert by_status(acme.fetch("/figures")) == {"NEW": 1}
        assert by_status(acme.fetch("/figures", tenant="acme")) == {"NEW": 1}
        watcher = Watcher(server, key="acme-secret-00000")
        assert by_status(watcher.await_figures(lambda _: True)[1]) == {"NEW": 1}
        watcher.close()
        assert sum(p["tickets_created"]["count"] for p in acme.fetch("/figures/tickets/history")["data"]) == 1
        for path in ("/figures", "/figures/live", "/figures/tickets/history"):
            for query in ({"tenant": "zeta"}, {"scope": "everybody"}, {"scope": "company"}, {"scope": "tenants"}):
                assert acme.get(path, **query).status == 403, (path, query)
            for customer in ("customer-secret-0", "bound-agent-secret"):
                assert server.rest(customer).get(path).status == 403, path
        for method, path in (
            ("GET", "/figures/followers"),
            ("GET", "/figures/set-aside"),
            ("DELETE", "/figures/set-aside/tickets~1"),
            ("POST", "/figures/tickets/recount"),
        ):
            for key in ("acme-operator-00", "acme-secret-00000", "reader-secret-000", "bound-agent-secret"):
                assert server.rest(key).request(method, path).status == 403, (path, key)
        assert server.rest("operator-secret-0").get("/figures/followers").status == 200

    def test_nothing_is_counted_without_metrics(self, start):
        server = start("--no-metrics")
        rest = server.rest()
        for path in ("/figures", "/figures/live", "/figures/tickets/history", "/figures/followers", "/figures/set-aside"):
            assert rest.get(path).problem["code"] == "NO_METRICS", path
        assert "prod-metrics" not in dynamodb(server).list_tables()["TableNames"]


class TestWatching:
    def test_changes_are_told_as_they_come(self, start):
        server = start(*AT_ONCE)
        desk = Desk(server)
        watcher = Watcher(server)
        assert watcher.response.status == 200
        assert watcher.response.getheader("Content-Type") == "text/event-stream"
        watcher.await_figures(lambda figures: by_status(figures) == {})
        for count in (1, 2, 3):
            desk.put(f"t{count}")
            last, _ = watcher.await_figures(lambda figures, count=count: by_status(figures) == {"NEW": count})
        # Who comes back says what it has, and gets only news.
        again = Watcher(server, last_event=last)
        desk.put("t4")
        assert by_status(json.loads(next(again.events())["data"])) == {"NEW": 4}
        again.close()
        watcher.close()
        rest = server.rest()
        eventually(lambda: "postino_metrics_watchers 0\n" in prometheus(server), "that both have gone")

    def test_a_client_that_does_not_read_keeps_no_other_back(self, start):
        server = start(*AT_ONCE)
        desk = Desk(server)
        host, port = server.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            silent.sendall(b"GET /figures/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            watcher = Watcher(server)
            for count in range(1, 6):
                desk.put(f"t{count}")
                watcher.await_figures(lambda figures, count=count: by_status(figures) == {"NEW": count})
            watcher.close()
            assert server.rest().get("/figures").status == 200

    def test_there_is_a_limit(self, start):
        server = start(*AT_ONCE)
        watchers = [Watcher(server, path="/figures/live?tenant=acme") for _ in range(50)]
        assert all(watcher.response.status == 200 for watcher in watchers)
        refused = Watcher(server, path="/figures/live?tenant=acme")
        assert (refused.response.status, json.loads(refused.response.read())["code"]) == (503, "OVERLOADED")
        assert Watcher(server).response.status == 200, "others are not concerned"
        for watcher in watchers:
            watcher.close()

    def test_the_end_of_the_server_is_no_hindrance(self, start):
        server = start(*AT_ONCE)
        watcher = Watcher(server)
        next(watcher.events())
        assert server.stop() == 0

    def test_the_command_line_follows(self, start, binary):
        server = start(*AT_ONCE)
        desk = Desk(server)
        command = [binary, "metrics", "--follow", "--json", "--url", server.url]
        history = [binary, "metrics", "history", "tickets", "--url", server.url]
        empty = subprocess.run(history, capture_output=True, text=True, check=True)
        assert (empty.stdout, empty.stderr) == ("", "None found.\n")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert by_status(json.loads(process.stdout.readline())) == {}
            desk.put("a")
            while by_status(json.loads(process.stdout.readline())) != {"NEW": 1}:
                pass
            process.terminate()
        shown = subprocess.run([binary, "metrics", "--url", server.url], capture_output=True, text=True, check=True).stdout
        assert "tickets_by_status NEW" in shown
        assert "tickets_created" in subprocess.run(history, capture_output=True, text=True, check=True).stdout


class TestDescription:
    def test_answers_are_as_described(self, start):
        server = start(*AT_ONCE, "--metrics-retries", "0")
        desk, api = Desk(server), DescribedRest(server.rest())
        desk.put("bad", Decimal(7))
        desk.resolve("c", 60)
        desk.rate("c", 4)
        await_counts(desk, READY=1)
        assert by_status(api.call("getFigures", 200, query={"scope": "company"}).json) == {"READY": 1}
        api.call("getFigures", 400, query={"scope": "all"})
        assert eventually(lambda: api.call("getFigureHistory", 200, query={"unit": "days"}, source="tickets").json["data"])
        api.call("getFigureHistory", 404, source="weather")
        assert api.call("listFollowers", 200).json["data"][0]["name"] == "tickets"
        (record,) = eventually(lambda: api.call("listSetAside", 200).json["data"], "what was set aside")
        api.call("retrySetAside", 202, id=record["id"])
        # The item still cannot be counted, so that it is set aside again when all are.
        (again,) = eventually(
            lambda: [each for each in api.call("listSetAside", 200).json["data"] if each["event"] == "SCAN"],
            "that it was tried again",
        )
        api.call("retrySetAside", 404, id="tickets~1")
        api.call("dropSetAside", 204, id=again["id"])
        api.call("dropSetAside", 404, id=again["id"])
        api.call("recountFigures", 202, source="tickets")
        api.call("recountFigures", 404, source="weather")
        described = {name for name, (_, _, operation) in api.operations.items() if operation["tags"] == ["Metrics"]}
        assert described == {*api.exercised, "watchFigures"}, "and those who watch are tested above"


class TestMishaps:
    def test_exact_totals_after_kills(self, start):
        chance = random.Random(16)
        server = start(*AT_ONCE)
        for _ in range(4):
            desk = Desk(server)
            for _ in range(chance.randrange(20, 60)):
                desk.put(str(chance.randrange(40)), chance.choice(STATUSES))
            server.kill()
            server = start(*AT_ONCE)
        desk = Desk(server)
        eventually(lambda: desk.counts_by_status() == desk.true_counts(), "what the tickets say")
        text = prometheus(server)
        assert 'postino_metrics_begun_total{follower="tickets"} 0\n' in text, "and nothing had to be counted again"

    def test_what_cannot_be_counted_is_set_aside(self, start, binary):
        server = start(*AT_ONCE, "--metrics-retries", "0")
        desk, rest = Desk(server), server.rest()
        desk.put("good")
        await_counts(desk, NEW=1)
        desk.put("bad", Decimal(7))
        desk.put("after")
        await_counts(desk, NEW=2)
        (record,) = rest.fetch("/figures/set-aside")["data"]
        assert record["reason"] == "status of a ticket must be a text"
        assert (record["follower"], record["kind"], record["table"]) == ("tickets", "source", TICKETS)
        assert record["keys"]["PK"] == {"S": "TICKET#bad"}
        shown = subprocess.run(
            [binary, "metrics", "set-aside", "list", "--url", server.url], capture_output=True, text=True, check=True
        ).stdout
        assert record["id"] in shown
        assert rest.delete(f"/figures/set-aside/{record['id']}").status == 204
        assert rest.delete(f"/figures/set-aside/{record['id']}").problem["code"] == "CHANGE_NOT_FOUND"
        assert rest.fetch("/figures/set-aside")["data"] == []

    def test_figures_that_are_spoilt_are_counted_anew(self, start):
        server = start(*AT_ONCE)
        desk, rest = Desk(server), server.rest()
        for number in range(5):
            desk.put(str(number))
        await_counts(desk, NEW=5)
        # As after a restore of the table of metrics alone: the next change would lead below zero.
        desk.resource.Table("prod-metrics").update_item(
            Key={"metric_name": "tickets_by_status#NEW"},
            UpdateExpression="SET count_value = :zero",
            ExpressionAttributeValues={":zero": 0},
        )
        desk.move("0", "PROCESSING")
        await_counts(desk, NEW=4, PROCESSING=1)
        # What no change reveals, an operator may mend.
        desk.resource.Table("prod-metrics").update_item(
            Key={"metric_name": "tickets_by_status#FAILED"},
            UpdateExpression="SET count_value = :wrong",
            ExpressionAttributeValues={":wrong": 1000},
        )
        assert rest.post("/figures/tickets/recount").status == 202
        await_counts(desk, NEW=4, PROCESSING=1)
        assert rest.post("/figures/weather/recount").problem["code"] == "SOURCE_NOT_FOUND"

    def test_figures_are_counted_anew_after_a_repair_that_lost_something(self, start, directory, binary):
        server = start(*AT_ONCE)
        desk = Desk(server)
        for number in range(100):
            desk.put(str(number), text="x" * 3_000)
        eventually(lambda: desk.counts_by_status()["NEW"] == 100, "the count of all")
        server.kill()
        log = max((directory / "data" / "store").glob("*.log"))
        contents = bytearray(log.read_bytes())
        contents[len(contents) // 2] ^= 4  # among the tickets, which are most of it
        log.write_bytes(contents)
        command = [binary, "repair", "--data", directory / "data", "--json"]
        repaired = json.loads(subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS).stdout)
        in_the_log = [lost for lost in repaired["lost"] if not lost.endswith("restored to times after the repair only")]
        assert len(in_the_log) == 1 and repaired["recounted"], repaired
        assert any("the figures of table prod-metrics" in note for note in repaired["notes"]), repaired
        server = start(*AT_ONCE)
        desk = Desk(server)
        left = desk.tickets.scan(Select="COUNT", ConsistentRead=True)["Count"]
        eventually(lambda: desk.counts_by_status()["NEW"] == left, f"the count of {left}")


SECRET = "whsec_" + "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"


class TestSubscribers:
    def test_a_webhook_gets_all_changes_in_order(self, start):
        with CallbackServer() as receiver:
            server = start(
                *AT_ONCE, "--subscriber", f"crm={TICKETS}:{receiver.url}", "--callback-secret", SECRET, "--callback-timeout", "5s"
            )
            desk = Desk(server)
            receiver.script = [(503, {}), (429, {})]
            for number in range(30):
                desk.put(str(number % 3), STATUSES[number % 5])

            def delivered():
                changes, seen = [], set()
                for call in list(receiver.calls)[2:]:
                    assert call.is_signed_with(SECRET)
                    for change in call.json["changes"]:
                        if change["sequence"] not in seen:
                            seen.add(change["sequence"])
                            changes.append(change)
                return changes

            eventually(lambda: len(delivered()) >= 30, "all changes")
            assert [change["new"]["status"]["S"] for change in delivered()] == [STATUSES[number % 5] for number in range(30)]
            sequences = [int(change["sequence"]) for change in delivered()]
            assert sequences == sorted(sequences)
            followers = {each["name"]: each for each in server.rest().fetch("/figures/followers")["data"]}
            assert followers["crm"]["kind"] == "subscriber"
            assert followers["crm"]["table"] == TICKETS

    def test_a_change_that_the_receiver_refuses_is_set_aside(self, start):
        with CallbackServer() as receiver:
            receiver.usual = (422, {})
            server = start(*AT_ONCE, "--metrics-retries", "1", "--subscriber", f"crm={TICKETS}:{receiver.url}")
            Desk(server).put("a")
            rest = server.rest()
            (record,) = eventually(lambda: rest.fetch("/figures/set-aside")["data"], "what was set aside")
            assert (record["follower"], record["kind"]) == ("crm", "subscriber")
            assert record["reason"] == "the receiver answered HTTP 422"
            receiver.usual = (204, {})
            receiver.calls.clear()
            assert rest.post(f"/figures/set-aside/{record['id']}/retry").status == 202
            eventually(lambda: not rest.fetch("/figures/set-aside")["data"], "that it was taken")
            (call,) = receiver.calls
            assert [change["keys"]["PK"]["S"] for change in call.json["changes"]] == ["TICKET#a"]

    def test_a_file_has_each_change_once_whenever_the_server_is_killed(self, start, directory):
        folder = directory / "changes"
        flags = (*AT_ONCE, "--subscriber", f"training={TICKETS}:file:{folder}")
        chance = random.Random(4)
        written = 0
        server = start(*flags)
        for _ in range(3):
            desk = Desk(server)
            for _ in range(chance.randrange(10, 40)):
                desk.put("t", number=written)
                written += 1
            server.kill()
            server = start(*flags)

        def numbers():
            lines = []
            for file in sorted(folder.glob("training-*.jsonl")):
                lines += file.read_text().splitlines()
            return [int(json.loads(line)["new"]["number"]["N"]) for line in lines]

        # While a process runs, the file may have more than the checkpoint says, but never less or twice.
        eventually(lambda: folder.exists() and numbers()[-1:] == [written - 1], "the last change")
        assert numbers() == list(range(written))

    def test_what_the_desk_keeps_for_itself_is_not_delivered_and_files_are_private(self, start, directory):
        folder = directory / "changes"
        server = start(*AT_ONCE, "--subscriber", f"training={TICKETS}:file:{folder}")
        desk = Desk(server)
        for kept in ("SESSION#", "IDEMPOTENCY#", "IDEMPOTENCY_OF#c1#", "CACHE#", "CACHE_OF#c1#"):
            for tenant in ("", "TENANT#acme#"):
                if f"{tenant}{kept}" != "SESSION#":  # which only the server writes
                    desk.tickets.put_item(Item={"PK": f"{tenant}{kept}k", "SK": "METADATA"})
        desk.put("t")
        file = folder / "training-000001.jsonl"
        eventually(lambda: file.exists() and "TICKET#t" in file.read_text(), "the ticket")
        assert [json.loads(line)["keys"]["PK"]["S"] for line in file.read_text().splitlines()] == ["TICKET#t"]
        assert folder.stat().st_mode & 0o077 == 0 == file.stat().st_mode & 0o077

    def test_what_the_desk_keeps_for_a_while_is_not_delivered(self, start, directory):
        folder = directory / "changes"
        keys = ("--api-key=ada:customer/cust_1:customer-secret-0", "--api-key=boss:operator:operator-secret-0")
        server = start(*AT_ONCE, *keys, "--access-key=postino:secret", "--subscriber", f"mine={TICKETS}:file:{folder}")
        ticket = {"customer": {"id": "cust_1", "name": "Ada"}, "symptom_text": "It does not start at all."}
        for secret in ("customer-secret-0", "operator-secret-0"):
            rest = server.rest(secret)
            assert rest.post("/tickets", ticket, {"Idempotency-Key": "kept"}).status == 202
            assert server.rest().post("/sessions", {"api_key": secret}).status == 201
        Desk(server).put("last")
        file = folder / "mine-000001.jsonl"
        partitions = eventually(
            lambda: file.exists()
            and (found := [json.loads(line)["keys"]["PK"]["S"] for line in file.read_text().splitlines()])
            and "TICKET#last" in found
            and found
        )
        begins = {partition.partition("#")[0] for partition in partitions}
        assert not begins & {"SESSION", "IDEMPOTENCY", "IDEMPOTENCY_OF", "CACHE", "CACHE_OF"}, begins

    def test_a_table_may_come_later_and_get_its_stream_from_us(self, start, directory):
        folder = directory / "changes"
        server = start(*AT_ONCE, "--subscriber", f"mine=later:file:{folder}")
        rest, client = server.rest(), dynamodb(server)

        def mine():
            return next(each for each in rest.fetch("/figures/followers")["data"] if each["name"] == "mine")

        eventually(lambda: mine().get("problem") == "there is no table later", "that it waits")
        client.create_table(
            TableName="later",
            KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        eventually(lambda: mine()["begun"] == 1 and "problem" not in mine(), "that it follows")
        client.put_item(TableName="later", Item={"Id": {"S": "one"}})
        file = folder / "mine-000001.jsonl"
        eventually(lambda: file.exists() and file.read_text().endswith("\n"), "the change")
        assert json.loads(file.read_text())["new"] == {"Id": {"S": "one"}}
        assert mine()["failures"] == 0

    def test_a_queue_gets_a_message_for_each_change(self, start):
        server = start(*AT_ONCE, "--subscriber", f"events={TICKETS}:queue:ticket-changes")
        desk, rest = Desk(server), server.rest()
        for number in range(3):
            desk.put(str(number))
        eventually(lambda: rest.fetch("/messages/queues/ticket-changes/depth")["depth"] == 3, "three messages")

    def test_a_subscriber_that_makes_no_sense_is_refused(self, binary, directory):
        def refusal(*flags):
            command = [binary, "config", "--data", str(directory / "none"), *flags]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode != 0, done
            return done.stderr

        form = "must be NAME=TABLE:URL, NAME=TABLE:queue:[CONNECTION:]QUEUE or NAME=TABLE:file:DIRECTORY"
        assert form in refusal("--subscriber", "x")
        assert form in refusal("--subscriber", "x=table:ftp://x")
        assert "NAME of 1 to 64" in refusal("--subscriber", "X=table:file:/tmp")
        assert "there are two of this name" in refusal("--subscriber", "x=one:file:/a", "--subscriber", "x=two:file:/b")
        assert "must not be for the table of metrics" in refusal("--subscriber", "x=prod-metrics:file:/a")
        assert "unknown connection main" in refusal("--subscriber", "x=tickets:queue:main:changes")
        assert "table of queues must not go to a queue" in refusal("--subscriber", "x=messages:queue:changes")
        assert "has no effect with --no-metrics" in refusal("--no-metrics", "--metrics-batch", "5")
        assert "--metrics-table and --reminders-table must differ" in refusal("--metrics-table", "EmailTrackingTable")
        assert "--metrics-table and --tickets-table must differ" in refusal("--metrics-table", TICKETS)
