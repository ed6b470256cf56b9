"""Many connections at once."""

import json
import socket
import threading

from postino_server import PATIENCE_SECONDS
from wire import Wire

IDLE = 10_000


def test_ten_thousand_idle_connections_do_not_stand_in_the_way(server, wire, new_table):
    table = new_table("pk:S")
    idle = []
    try:
        for _ in range(IDLE):
            idle.append(socket.create_connection((server.host, server.port), timeout=PATIENCE_SECONDS))
        fresh = Wire(server)  # beside the idle ones, on connections old and new
        for number in range(50):
            key = {"pk": {"S": str(number)}}
            wire.call("PutItem", TableName=table, Item=key)
            assert fresh.call("GetItem", TableName=table, Key=key, ConsistentRead=True) == {"Item": key}
        fresh.close()
        for number in (0, IDLE // 2, IDLE - 1):  # the idle ones are alive, and answered when they ask
            idle[number].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert idle[number].recv(4096).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in idle:
            connection.close()
    assert wire.call("Scan", TableName=table, Select="COUNT")["Count"] == 50


def test_many_clients_write_the_same_counter(server, wire, new_table):
    table = new_table("pk:S")

    def count():
        own = Wire(server)
        for _ in range(25):
            own.call(
                "UpdateItem",
                TableName=table,
                Key={"pk": {"S": "counter"}},
                UpdateExpression="ADD hits :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )
        own.close()

    threads = [threading.Thread(target=count) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    item = wire.call("GetItem", TableName=table, Key={"pk": {"S": "counter"}}, ConsistentRead=True)["Item"]
    assert item["hits"] == {"N": "400"}


def test_optimistic_locking_lets_one_of_many_win(server, wire, new_table):
    table = new_table("pk:S")
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "lock"}, "revision": {"N": "1"}})
    outcomes = []

    def take(owner):
        own = Wire(server)
        body = {
            "TableName": table,
            "Key": {"pk": {"S": "lock"}},
            "UpdateExpression": "SET revision = :next, holder = :me",
            "ConditionExpression": "revision = :seen",
            "ExpressionAttributeValues": {":seen": {"N": "1"}, ":next": {"N": "2"}, ":me": {"S": owner}},
        }

        answer = own.post("UpdateItem", json.dumps(body))
        outcomes.append((answer.status, owner))
        own.close()

    threads = [threading.Thread(target=take, args=(f"owner{number}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [owner for status, owner in outcomes if status == 200]
    assert len(winners) == 1 and len(outcomes) == 12
    item = wire.call("GetItem", TableName=table, Key={"pk": {"S": "lock"}}, ConsistentRead=True)["Item"]
    assert item["holder"] == {"S": winners[0]}
