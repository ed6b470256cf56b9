"""Tables for tests, described in few words."""

import itertools
import os

from expectations import eventually

_numbers = itertools.count(1)


def fresh_name(purpose="table"):
    return f"{purpose}-{os.getpid()}-{next(_numbers)}"


def _parts(keys):
    """'pk:S sk:N' as [('pk', 'S'), ('sk', 'N')]."""
    return [tuple(part.split(":")) for part in keys.split()]


def key_schema(keys):
    return [{"AttributeName": name, "KeyType": kind} for (name, _), kind in zip(_parts(keys), ("HASH", "RANGE"))]


def definitions(*keys):
    known = dict(part for each in keys for part in _parts(each))
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in known.items()]


def projection(kept):
    """'ALL', 'KEYS_ONLY', or a list of attributes to include."""
    if isinstance(kept, str):
        return {"ProjectionType": kept}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": kept}


def index(name, keys, kept="ALL"):
    return {"IndexName": name, "KeySchema": key_schema(keys), "Projection": projection(kept)}


def table_request(keys="pk:S", name=None, global_indexes=(), local_indexes=(), **more):
    """The members of a CreateTable request. Indexes are tuples for index(): (name, keys[, kept])."""
    request = {
        "TableName": name or fresh_name(),
        "KeySchema": key_schema(keys),
        "AttributeDefinitions": definitions(keys, *(each[1] for each in [*global_indexes, *local_indexes])),
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }
    if global_indexes:
        request["GlobalSecondaryIndexes"] = [index(*each) for each in global_indexes]
    if local_indexes:
        request["LocalSecondaryIndexes"] = [index(*each) for each in local_indexes]
    return request


def create_table(wire, keys="pk:S", **more):
    """Creates a table, waits until it can be used, and returns its name."""
    request = table_request(keys, **more)
    wire.call("CreateTable", request)
    await_active(wire, request["TableName"])
    return request["TableName"]


def await_active(wire, table):
    """Waits until the table and its indexes can be used; returns its description."""

    def active_description():
        description = wire.call("DescribeTable", TableName=table)["Table"]
        states = [index["IndexStatus"] for index in description.get("GlobalSecondaryIndexes", [])]
        return {description["TableStatus"], *states} == {"ACTIVE"} and description

    return eventually(active_description)
