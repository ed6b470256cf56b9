"""The capacity planner: figures against the formulas of the program it comes from, and against the store's own traffic."""

import json
import os
import random
import subprocess

import pytest

from store import dynamodb
from waiting import PATIENCE_SECONDS, eventually

KILOBYTE = 1024


class FormerCalculator:
    """That program, as its document has it."""

    @staticmethod
    def read_capacity(reads_per_second, item_size_kb, consistent=False):
        blocks_per_item = max(1, int((item_size_kb + 3) / 4))
        if consistent:
            rcu = reads_per_second * blocks_per_item
        else:
            rcu = (reads_per_second * blocks_per_item) / 2
        return int(rcu)

    @staticmethod
    def write_capacity(writes_per_second, item_size_kb):
        return int(writes_per_second * max(1, int(item_size_kb)))

    @staticmethod
    def monthly_cost(rcu, wcu, storage_gb):
        rcu_cost, wcu_cost, storage_cost = rcu * 0.00065 * 730, wcu * 0.00065 * 730, storage_gb * 0.25
        return {
            "rcu_cost": round(rcu_cost, 2),
            "wcu_cost": round(wcu_cost, 2),
            "storage_cost": round(storage_cost, 2),
            "total": round(rcu_cost + wcu_cost + storage_cost, 2),
        }

    @classmethod
    def analysis(cls, reads_per_second, writes_per_second, item_size_kb, storage_gb, hours_active_per_day=24):
        rcu = cls.read_capacity(reads_per_second, item_size_kb, consistent=True)
        wcu = cls.write_capacity(writes_per_second, item_size_kb)
        provisioned = cls.monthly_cost(rcu, wcu, storage_gb)
        read_cost = (reads_per_second * 60 * 60 * hours_active_per_day * 30 / 1_000_000) * 1.25
        write_cost = (writes_per_second * 60 * 60 * hours_active_per_day * 30 / 1_000_000) * 1.25
        storage_cost = storage_gb * 0.25
        total = read_cost + write_cost + storage_cost
        return {
            "provisioned": provisioned,
            "on_demand": {
                "read_cost": round(read_cost, 2),
                "write_cost": round(write_cost, 2),
                "storage_cost": round(storage_cost, 2),
                "total": round(total, 2),
            },
            "recommendation": "provisioned" if provisioned["total"] < total else "on-demand",
            "savings": abs(provisioned["total"] - total),
        }


EXAMPLE = {
    "reads_per_second": 100,
    "writes_per_second": 20,
    "item_size_kb": 3,
    "storage_gb": 50,
    "hours_active_per_day": 12,
}


class TestFormerCalculator:
    def analysis(self, rest, load):
        answer = rest.request("POST", "/capacity/former-plan", load)
        assert answer.status == 200, answer
        return answer.json

    def test_the_example_that_it_prints(self, rest):
        found = self.analysis(rest, EXAMPLE)
        assert (found["provisioned"]["rcu_cost"], found["provisioned"]["wcu_cost"]) == (47.45, 28.47)
        assert found["provisioned"]["total"] == 88.42
        assert (found["on_demand"]["read_cost"], found["on_demand"]["write_cost"]) == (162.00, 32.40)
        assert found["on_demand"]["total"] == 206.90
        assert found["recommendation"] == "provisioned"
        assert round(found["savings"], 2) == 118.48
        # What it prints has no storage; its own function has.
        assert found["provisioned"]["storage_cost"] == found["on_demand"]["storage_cost"] == 12.5

    def test_many_loads(self, rest):
        chance = random.Random(16)
        edges = [0, 0.1, 0.99, 1, 1.01, 3.9, 4, 4.1, 4.99, 5, 5.01, 8, 8.99, 9, 399.9, 400]
        for number in range(500):
            load = {
                "reads_per_second": chance.randrange(10_000),
                "writes_per_second": chance.randrange(10_000),
                "item_size_kb": chance.choice(edges) if number % 2 else chance.uniform(0, 400),
                "storage_gb": round(chance.uniform(0, 5000), chance.randrange(4)),
                "hours_active_per_day": chance.randrange(25),
            }
            found, expected = self.analysis(rest, load), FormerCalculator.analysis(**load)
            assert {name: found[name] for name in expected} == expected, load
            size, reads = load["item_size_kb"], load["reads_per_second"]
            assert found["eventual_read_units"] == FormerCalculator.read_capacity(reads, size), load

    def test_notes_are_true(self):
        """Of what the notes say about its figures."""
        assert FormerCalculator.read_capacity(1, 4.5, True) == 1
        assert FormerCalculator.write_capacity(1, 3.9) == 3
        assert [FormerCalculator.read_capacity(reads, 1) for reads in (1, 3)] == [0, 1]
        printed = json.dumps(FormerCalculator.analysis(**EXAMPLE))
        for text in ('"read_cost": 162.0,', '"write_cost": 32.4,', '"total": 206.9}'):
            assert text in printed
        assert printed.count("storage_cost") == 2


class TestPlan:
    @pytest.mark.parametrize("item_bytes", [1, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 409599, 409600])
    def test_units_at_block_edges(self, rest, item_bytes):
        """Against whole numbers of blocks, and against what the store itself says that such an item costs."""
        kinds = ("strong_reads", "eventual_reads", "transactional_reads", "writes", "transactional_writes", "deletes")
        answer = rest.request("POST", "/capacity/plan", {"item_bytes": item_bytes, **dict.fromkeys(kinds, 1)})
        units = [float(line["units_each"]) for line in answer.json["requests"]]
        blocks, kilobytes = -(-item_bytes // (4 * KILOBYTE)), -(-item_bytes // KILOBYTE)
        assert units == [blocks, blocks / 2, 2 * blocks, kilobytes, 2 * kilobytes, kilobytes]

    def test_the_store_charges_the_same(self, rest, outbox):
        client = dynamodb(outbox)
        make_table(client, "planned")
        for item_bytes in (1024, 1025, 4096, 4097):
            item = {"pk": {"S": "item"}, "pad": {"S": "x" * (item_bytes - len("pk") - len("item") - len("pad"))}}
            put = client.put_item(TableName="planned", Item=item, ReturnConsumedCapacity="TOTAL")
            get = client.get_item(TableName="planned", Key={"pk": {"S": "item"}}, ReturnConsumedCapacity="TOTAL")
            answer = rest.request("POST", "/capacity/plan", {"item_bytes": item_bytes, "eventual_reads": 1, "writes": 1})
            read, write = (float(line["units_each"]) for line in answer.json["requests"])
            assert (get["ConsumedCapacity"]["CapacityUnits"], put["ConsumedCapacity"]["CapacityUnits"]) == (read, write)

    def test_faults_name_field_and_rule(self, rest):
        answer = rest.request("POST", "/capacity/plan", {"item_bytes": 0, "writes": 1.5, "colour": "red"})
        assert answer.status == 400
        assert set(answer.broken_rules) == {"item_bytes", "writes", "colour"}

    def test_fields_that_are_given_twice(self, rest):
        body = b'{"item_bytes": 100, "writes": 1, "writes": 1000}'
        answer = rest.request("POST", "/capacity/plan", body, {"Content-Type": "application/json"})
        assert (answer.status, answer.broken_rules) == (400, {"writes": "must not be given twice"})

    def test_stream_reads_have_a_line(self, rest):
        answer = rest.request("POST", "/capacity/plan", {"item_bytes": 100, "stream_reads": 5})
        (line,) = answer.json["requests"]
        assert (line["what"], line["unit"], line["per_second"]) == ("stream reads", "stream_read", "5")
        assert answer.json["read_units_per_second"] == "0"


def make_table(client, name, **more):
    usual = {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", **{**usual, **more})


def index(name, attribute):
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }


@pytest.fixture
def watched(start):
    """A server that has seen the traffic of a day in a moment."""
    server = start()
    client = dynamodb(server)
    attributes = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "used", "unused")]
    indexes = [index("used-index", "used"), index("unused-index", "unused")]
    make_table(client, "shop", AttributeDefinitions=attributes, GlobalSecondaryIndexes=indexes)
    server.rest().request("POST", "/capacity/observed/restart")
    for number in range(50):
        marks = {"used": {"S": "u"}, "unused": {"S": "n"}}
        client.put_item(TableName="shop", Item={"pk": {"S": f"cold {number}"}, **marks})
    for _ in range(100):
        client.get_item(TableName="shop", Key={"pk": {"S": "hot"}}, ConsistentRead=True)
    client.put_item(TableName="shop", Item={"pk": {"S": "large"}, "pad": {"S": "x" * 380_000}})
    client.query(
        TableName="shop",
        IndexName="used-index",
        KeyConditionExpression="used = :u",
        ExpressionAttributeValues={":u": {"S": "u"}},
    )
    return server


class TestObserve:
    def observed(self, server):
        answer = server.rest().get("/capacity/observed")
        assert answer.status == 200, answer
        return answer.json

    def test_finds_what_there_is_to_find(self, watched):
        observation = self.observed(watched)
        (shop,) = [table for table in observation["tables"] if table["table"] == "shop"]
        parts = {part["index"]: part for part in shop["parts"]}
        assert set(parts) == {"", "used-index", "unused-index"}
        assert float(parts[""]["read_units"]) == 100
        assert float(parts[""]["write_units"]) == 50 + 372
        assert float(parts["unused-index"]["write_units"]) == 50
        assert (parts["used-index"]["reads"], parts["unused-index"]["reads"]) == (1, 0)
        assert parts[""]["items"] == 51
        # The hottest key of the reads is the one that was read all the time.
        hot = [key for key in observation["hot_keys"] if (key["table"], key["index"], key["unit"]) == ("shop", "", "read")]
        assert json.loads(hot[0]["key"]) == {"pk": {"S": "hot"}}
        assert (float(hot[0]["units"]), hot[0]["share_percent"]) == (100, "100")
        (large,) = observation["large_items"]
        assert json.loads(large["key"]) == {"pk": {"S": "large"}}
        assert large["bytes"] == len("pk") + len("large") + len("pad") + 380_000
        unread = [each["index"] for each in observation["unread_indexes"] if each["table"] == "shop"]
        assert unread == ["unused-index"]
        advice = {(each["about"], each["table"], each["index"]): each["text"] for each in observation["advice"]}
        assert "object store" in advice["large_item", "shop", ""]
        assert "remove it" in advice["unread_index", "shop", "unused-index"]
        assert float(shop["on_demand"]["total"]) > 0

    def test_a_new_index_is_filled_once(self, watched):
        """What it takes is in no month, and nothing is said about the time before there was the index."""
        client = dynamodb(watched)
        create = {"Create": index("late-index", "used")}
        client.update_table(
            TableName="shop",
            AttributeDefinitions=[{"AttributeName": "used", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[create],
        )

        def filled():
            (shop,) = [table for table in self.observed(watched)["tables"] if table["table"] == "shop"]
            (late,) = [part for part in shop["parts"] if part["index"] == "late-index"]
            return late if late["backfill_units"] == "50" else None

        late = eventually(filled, "the index to be filled")
        assert (late["write_units"], late["write_units_per_month"]) == ("0", "0")
        assert any("took 50 write units" in note for note in self.observed(watched)["notes"])
        client.put_item(TableName="shop", Item={"pk": {"S": "one more"}, "used": {"S": "u"}})
        observation = self.observed(watched)
        (unread,) = [each for each in observation["unread_indexes"] if each["index"] == "late-index"]
        assert unread["since"] > observation["since"]

    def test_what_is_deleted_costs_nothing(self, watched):
        client = dynamodb(watched)
        before = self.observed(watched)
        assert before["deleted_units"] == "0"
        (shop,) = [table for table in before["tables"] if table["table"] == "shop"]
        units = sum(float(part["read_units"]) + float(part["write_units"]) for part in shop["parts"])
        client.delete_table(TableName="shop")
        after = self.observed(watched)
        assert "shop" not in [table["table"] for table in after["tables"]]
        assert float(after["deleted_units"]) == units
        assert any("deleted meanwhile" in note for note in after["notes"])

    def test_services_count_too(self, watched):
        rest = watched.rest()
        identifier = rest.accept_one({"from": "a@b.example", "to": "c@d.example", "subject": "s", "body_text": "t"})
        rest.await_status(identifier, "SENT")
        tables = {table["table"]: table for table in self.observed(watched)["tables"]}
        assert float(tables["email-outbox"]["parts"][0]["write_units"]) > 0

    def test_a_partition_that_is_too_hot(self, watched):
        """A transaction of 60 items of 20 KB takes 2,400 units at once."""
        client = dynamodb(watched)
        make_table(
            client,
            "burst",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        )
        pad = {"pad": {"S": "x" * 20_200}}

        def burst_is_seen():
            actions = [
                {"Put": {"TableName": "burst", "Item": {"pk": {"S": "one"}, "sk": {"S": str(number)}, **pad}}}
                for number in range(60)
            ]
            client.transact_write_items(TransactItems=actions)
            return [each for each in self.observed(watched)["hot_partitions"] if each["table"] == "burst"]

        (found,) = eventually(burst_is_seen, "a hot partition")  # a second may end in the middle of one
        assert json.loads(found["key"]) == {"pk": {"S": "one"}}
        assert float(found["most_in_a_second"]) > 1000

    def test_keys_are_for_operators_and_not_in_the_log(self, start):
        keys = ("--api-key", "one:operator:operator-secret-0", "--api-key", "two:sender:sender-secret-00")
        tenant = ("--api-key", "three:operator@acme:tenant-secret-00")
        server = start(*keys, *tenant, "--access-key", "postino:secret", "--log-requests")
        client = dynamodb(server)
        make_table(client, "people")
        client.put_item(TableName="people", Item={"pk": {"S": "ada@example.org"}, "pad": {"S": "x" * 390_000}})
        operator = server.rest("operator-secret-0").get("/capacity/observed")
        assert "ada@example.org" in json.dumps(operator.json["hot_keys"])
        for secret in ("sender-secret-00", "tenant-secret-00"):
            for method, path in (("GET", "/capacity/observed"), ("POST", "/capacity/observed/restart")):
                assert server.rest(secret).request(method, path).status == 403, (secret, path)
        assert server.rest("sender-secret-00").get("/capacity/prices").status == 200
        server.stop()
        assert "ada@example" not in server.whole_log()


class TestCommands:
    @pytest.fixture
    def run(self, binary, directory):
        def run(*arguments, url="http://127.0.0.1:1"):  # where no server listens
            command = [binary, "capacity", *map(str, arguments)]
            environment = {"POSTINO_URL": url, "LC_ALL": "C.UTF-8"}
            return subprocess.run(
                command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment, cwd=directory
            )

        return run

    def test_calculates_without_a_server(self, run):
        load = ("--item-bytes", 3072, "--strong-reads", 100, "--writes", 20, "--storage-gb", 50, "--hours-per-day", 12)
        shown = run(*load)
        assert shown.returncode == 0, shown
        assert "Cheaper: provisioned, by 11.33 a month" in shown.stdout
        plan = json.loads(run(*load, "--json").stdout)
        assert (plan["provisioned"]["total"], plan["on_demand"]["total"]) == ("66.88", "78.21")
        former = ("--reads-per-second", 100, "--writes-per-second", 20, "--item-size-kb", 3, "--storage-gb", 50)
        shown = run("former", *former, "--hours-active-per-day", 12)
        assert shown.returncode == 0 and "88.42" in shown.stdout and "206.9" in shown.stdout
        assert "contradicts" in shown.stdout

    def test_the_server_answers_the_same(self, run, watched):
        load = ("--item-bytes", 5000, "--eventual-reads", "0.5", "--index", "projection=KEYS_ONLY,entry_bytes=90", "--json")
        here, there = run(*load), run(*load, "--server", url=watched.url)
        assert there.returncode == 0 and json.loads(here.stdout) == json.loads(there.stdout)

    def test_faults_name_the_option(self, run):
        ended = run("--writes", "many")
        assert ended.returncode == 2
        assert "--item-bytes: is required" in ended.stderr
        assert "--writes: must be a number such as 12 or 0.5" in ended.stderr

    def test_faults_are_in_words_of_the_command_line(self, run, watched):
        for more in ((), ("--server",)):
            ended = run(
                *("--item-bytes", 100, "--writes", "", "--items", 5, "--storage-gb", 5),
                *("--index", "projection=KEYS_ONLY,entry_bytes=101", *more),
                url=watched.url,
            )
            assert ended.returncode == 2
            assert "--writes: must be a number such as 12 or 0.5, from 0 to" in ended.stderr
            assert "--storage-gb: must be left out where --items is given" in ended.stderr
            assert "--index 1: entry_bytes: must not be more than --item-bytes" in ended.stderr

    def test_price_files_that_are_no_files(self, run, directory):
        os.mkfifo(directory / "pipe")
        for name in ("pipe", "."):
            ended = run("--item-bytes", 1, "--prices", name)
            assert (ended.returncode, f"{name} is not a regular file" in ended.stderr) == (2, True), ended
        ended = run("--item-bytes", 1, "--prices", "")
        assert (ended.returncode, "--prices: must name a file" in ended.stderr) == (2, True), ended

    def test_prices_from_a_file(self, run, directory):
        prices = json.loads(run("prices").stdout)
        prices["standard"]["on_demand_write_million"] = "1.25"
        (directory / "mine.json").write_text(json.dumps(prices))
        load = ("--item-bytes", 1024, "--writes", 10, "--json")
        usual, mine = (json.loads(run(*load, *more).stdout) for more in ((), ("--prices", "mine.json")))
        assert (usual["on_demand"]["writes"], mine["on_demand"]["writes"]) == ("16.43", "32.85")
        shown = json.loads(run("prices", "--prices", "mine.json").stdout)
        assert (shown["standard"], shown["free"]) == (prices["standard"], prices["free"])
        prices["standard"].pop("storage_gb_month")
        prices["currency"] = "euro"
        (directory / "mine.json").write_text(json.dumps(prices))
        ended = run(*load, "--prices", "mine.json")
        assert ended.returncode == 2
        assert "mine.json: standard.storage_gb_month: is required" in ended.stderr
        assert "mine.json: currency: must be the three capital letters" in ended.stderr

    def test_a_server_takes_prices_from_a_file(self, run, start, binary, directory):
        prices = json.loads(run("prices").stdout)
        prices["region"] = "eu-south-1"
        file = directory / "mine.json"
        file.write_text(json.dumps(prices))
        assert start("--prices", file).rest().get("/capacity/prices").json["region"] == "eu-south-1"
        file.write_text("{}")
        refused = subprocess.run([binary, "config", "--prices", file], capture_output=True, text=True)
        assert refused.returncode != 0 and "mine.json: region: is required" in refused.stderr

    def test_observe(self, run, watched):
        for command in (("--observe",), ("observe",)):
            shown = run(*command, url=watched.url)
            assert shown.returncode == 0, shown
            for text in ("unused-index", '{"pk":{"S":"hot"}}', "large item: An item of table shop", "unread index: "):
                assert text in shown.stdout
        assert run("restart", url=watched.url).returncode == 0
        assert json.loads(run("--observe", "--json", url=watched.url).stdout)["large_items"] == []

    def test_observe_refuses_what_it_would_ignore(self, run, watched):
        for options, refused in {
            ("--observe", "--writes", "5"): "--writes has no effect with --observe",
            ("--observe", "--free-tier"): "--free-tier has no effect with --observe",
            ("--observe", "--index", "projection=ALL"): "--index has no effect with --observe",
            ("--observe", "--prices", "mine.json"): "--prices has no effect with --observe: the server has prices of its own",
            ("--writes", "5", "observe"): "--writes has no effect in front of the command observe",
            ("--prices", "mine.json", "prices"): "--prices has no effect in front of the command prices",
        }.items():
            ended = run(*options, url=watched.url)
            assert (ended.returncode, refused in ended.stderr) == (2, True), ended
        assert run("--observe", "--server", url=watched.url).returncode == 0  # it is the server that tells

    def test_observe_without_a_server(self, run):
        assert run("--observe").returncode == 1
