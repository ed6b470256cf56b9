"""What was acknowledged is there after the server was killed in the middle of its work, or ended in peace."""

import http.client
import json
import threading

import pytest

from postino_server import PATIENCE_SECONDS
from tables import create_table
from wire import Refused, Wire

WRITERS = 8
ENOUGH = 400  # acknowledged writes before the server is killed


class Load:
    """Writers that go on until the server is gone, and remember what was acknowledged."""

    def __init__(self, server, write):
        self.server = server
        self.write = write
        self.acknowledged = []
        self.changed = threading.Condition()
        self.unexpected = []
        self.threads = [threading.Thread(target=self._run, args=(writer,)) for writer in range(WRITERS)]
        for thread in self.threads:
            thread.start()

    def _run(self, writer):
        wire, number = Wire(self.server), 0
        while True:
            try:
                done = self.write(wire, writer, number)
            except Refused as refusal:
                self.unexpected.append(refusal)
                return
            except (http.client.HTTPException, OSError, json.JSONDecodeError):
                return
            number += 1
            with self.changed:
                self.acknowledged.append(done)
                self.changed.notify_all()

    def await_acknowledged(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.acknowledged) >= count or self.unexpected, timeout=PATIENCE_SECONDS)

    def join(self):
        for thread in self.threads:
            thread.join()
        assert self.unexpected == []
        return self.acknowledged


def all_items(wire, table):
    found, start = {}, {}
    while True:
        answer = wire.call("Scan", TableName=table, ConsistentRead=True, **start)
        found.update((item["pk"]["S"], item) for item in answer["Items"])
        if "LastEvaluatedKey" not in answer:
            return found
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def test_acknowledged_items_survive_a_crash(start_server):
    def put(wire, writer, number):
        item = {"pk": {"S": f"{writer}-{number}"}, "kind": {"S": f"kind{number % 5}"}, "pad": {"S": "x" * 200}}
        wire.call("PutItem", TableName="items", Item=item)
        return item

    with start_server() as server:
        create_table(Wire(server), name="items", global_indexes=[("byKind", "kind:S")])
    for round_number in range(3):  # each on top of what the last one left
        server = start_server()
        before = all_items(Wire(server), "items")
        load = Load(server, put)
        load.await_acknowledged(ENOUGH)
        server.kill()
        acknowledged = load.join()
        with start_server() as restarted:
            wire = Wire(restarted)
            after = all_items(wire, "items")
            missing = [item for item in acknowledged if after.get(item["pk"]["S"]) != item]
            assert missing == [], f"lost in round {round_number}"
            assert set(before) <= set(after)
            indexed = [
                item["pk"]["S"]
                for kind in range(5)
                for item in wire.call(
                    "Query",
                    TableName="items",
                    IndexName="byKind",
                    KeyConditionExpression="kind = :k",
                    ExpressionAttributeValues={":k": {"S": f"kind{kind}"}},
                )["Items"]
            ]
            assert sorted(indexed) == sorted(after)


def test_transactions_are_whole_after_a_crash(start_server):
    def transfer(wire, writer, number):
        """One item in each of two tables, and a count of them: all or none."""
        wire.call(
            "TransactWriteItems",
            TransactItems=[
                {"Put": {"TableName": "left", "Item": {"pk": {"S": f"{writer}-{number}"}}}},
                {"Put": {"TableName": "right", "Item": {"pk": {"S": f"{writer}-{number}"}}}},
                {
                    "Update": {
                        "TableName": "left",
                        "Key": {"pk": {"S": f"count {writer}"}},
                        "UpdateExpression": "ADD done :one",
                        "ExpressionAttributeValues": {":one": {"N": "1"}},
                    }
                },
            ],
        )
        return f"{writer}-{number}"

    server = start_server()
    for name in ("left", "right"):
        create_table(Wire(server), name=name)
    load = Load(server, transfer)
    load.await_acknowledged(ENOUGH)
    server.kill()
    acknowledged = load.join()
    with start_server() as restarted:
        wire = Wire(restarted)
        left, right = all_items(wire, "left"), all_items(wire, "right")
        counts = {key: int(item["done"]["N"]) for key, item in left.items() if key.startswith("count ")}
        pairs = set(left) - set(counts)
        assert pairs == set(right)
        assert set(acknowledged) <= pairs
        assert sum(counts.values()) == len(pairs)


def test_requests_under_way_are_answered_when_the_server_ends(start_server):
    def put(wire, writer, number):
        wire.call("PutItem", TableName="items", Item={"pk": {"S": f"{writer}-{number}"}})
        return f"{writer}-{number}"

    server = start_server()
    create_table(Wire(server), name="items")
    load = Load(server, put)
    load.await_acknowledged(100)
    assert server.stop() == 0
    acknowledged = load.join()
    with start_server() as restarted:
        assert set(acknowledged) <= set(all_items(Wire(restarted), "items"))


def test_tables_and_streams_are_there_after_a_restart(start_server):
    with start_server() as server:
        wire = Wire(server)
        view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        table = create_table(wire, StreamSpecification=view)
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "before"}})
        arn = wire.call("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    with start_server() as server:
        wire = Wire(server)
        wire.call("PutItem", TableName=table, Item={"pk": {"S": "after"}})
        keys = []
        for shard in wire.call("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
            request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            position = wire.call("GetShardIterator", request)["ShardIterator"]
            records = wire.call("GetRecords", ShardIterator=position)["Records"]
            keys += [record["dynamodb"]["Keys"]["pk"]["S"] for record in records]
        assert keys == ["before", "after"]


def test_data_directory_has_one_server_at_a_time(start_server):
    with start_server():
        with pytest.raises(RuntimeError, match="did not get ready"):
            start_server()
