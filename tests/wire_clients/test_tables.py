"""CreateTable, DescribeTable, ListTables, UpdateTable and DeleteTable."""

import re

import pytest

from expectations import NO_TABLE, at, constraint, eventually, invalid, parameters, refused
from tables import await_active, create_table, definitions, fresh_name, index, key_schema, table_request
from wire import Refused, Wire

TABLE_ARN = re.compile(r"arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table/(.+)")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def describe(wire, table):
    return wire.call("DescribeTable", TableName=table)["Table"]


def no_table(name):
    return refused("ResourceNotFoundException", f"{NO_TABLE}: Table: {name} not found")


def delete(wire, table):
    answer = wire.call("DeleteTable", TableName=table)

    def gone():
        try:
            describe(wire, table)
        except Refused as error:
            return error.code == "ResourceNotFoundException"

    eventually(gone)
    return answer["TableDescription"]


# ---- creating and describing


def test_new_table_is_described(wire):
    request = table_request(
        "pk:S sk:N",
        global_indexes=[("byColor", "color:S sk:N", ["weight", "note"])],
        local_indexes=[("byDate", "pk:S date:S", "KEYS_ONLY")],
    )
    name = request["TableName"]
    created = wire.call("CreateTable", request)["TableDescription"]
    assert (created["TableName"], created["TableStatus"]) == (name, "CREATING")
    described = await_active(wire, name)
    assert TABLE_ARN.fullmatch(described["TableArn"])[1] == name
    assert UUID.fullmatch(described["TableId"])
    assert described["TableStatus"] == "ACTIVE"
    assert described["KeySchema"] == request["KeySchema"]
    assert sorted(described["AttributeDefinitions"], key=str) == sorted(request["AttributeDefinitions"], key=str)
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert described["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }
    assert (described["ItemCount"], described["TableSizeBytes"]) == (0, 0)
    assert described["DeletionProtectionEnabled"] is False
    assert isinstance(described["CreationDateTime"], (int, float))
    (gsi,) = described["GlobalSecondaryIndexes"]
    assert (gsi["IndexName"], gsi["IndexStatus"]) == ("byColor", "ACTIVE")
    assert gsi["IndexArn"] == described["TableArn"] + "/index/byColor"
    assert gsi["Projection"]["ProjectionType"] == "INCLUDE"
    assert sorted(gsi["Projection"]["NonKeyAttributes"]) == ["note", "weight"]
    (lsi,) = described["LocalSecondaryIndexes"]
    assert lsi["KeySchema"] == key_schema("pk:S date:S")
    assert lsi["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert not {"StreamSpecification", "LatestStreamArn", "SSEDescription", "TableClassSummary"} & set(described)


def test_provisioned_table_shows_its_throughput(wire, new_table):
    request = {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 3},
    }
    described = describe(wire, new_table("pk:S", **request))
    throughput = described["ProvisionedThroughput"]
    assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (5, 3)
    assert "BillingModeSummary" not in described


def test_counts_follow_the_items(wire, new_table):
    table = new_table("pk:S")
    for number in range(3):
        wire.call("PutItem", TableName=table, Item={"pk": {"S": str(number)}, "v": {"S": "12345"}})
    described = describe(wire, table)
    # On AWS these are refreshed every few hours; here they may be up to date or lag, but not be wrong.
    assert (described["ItemCount"], described["TableSizeBytes"]) in [(3, 3 * (2 + 1 + 1 + 5)), (0, 0)]


def test_table_can_be_described_by_its_arn(wire, new_table):
    table = new_table("pk:S")
    assert describe(wire, describe(wire, table)["TableArn"])["TableName"] == table


def provisioned(read=1, write=1):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"TableName": None}, "The parameter 'TableName' is required but was not present in the request"),
        (
            {"TableName": "ab"},
            constraint(at("tableName", "'ab'", "Member must have length greater than or equal to 3")),
        ),
        (
            {"ProvisionedThroughput": provisioned()},
            parameters(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
            ),
        ),
        (
            {"BillingMode": None},
            parameters(
                "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
            ),
        ),
        (
            {"AttributeDefinitions": []},
            "Invalid KeySchema: Some index key attribute have no definition",
        ),
        (
            {"AttributeDefinitions": definitions("other:S")},
            parameters(
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], AttributeDefinitions: "
                "[other]"
            ),
        ),
        (
            {"KeySchema": [{"AttributeName": "pk", "KeyType": "RANGE"}]},
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            {
                "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in ("pk", "sk")],
                "AttributeDefinitions": definitions("pk:S sk:S"),
            },
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ),
        (
            {"KeySchema": key_schema("pk:S pk:S"), "AttributeDefinitions": definitions("pk:S x:S")},
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            {"AttributeDefinitions": definitions("pk:S surplus:S")},
            parameters(
                "Number of attributes in KeySchema does not exactly match number of attributes defined in "
                "AttributeDefinitions"
            ),
        ),
        (
            {"KeySchema": [{"AttributeName": "pk", "KeyType": "INVALID"}]},
            constraint(
                at("keySchema.1.member.keyType", "'INVALID'", "Member must satisfy enum value set: [HASH, RANGE]")
            ),
        ),
        (
            {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "INVALID"}]},
            constraint(
                at(
                    "attributeDefinitions.1.member.attributeType",
                    "'INVALID'",
                    "Member must satisfy enum value set: [B, N, S]",
                )
            ),
        ),
        ({"GlobalSecondaryIndexes": []}, parameters("List of GlobalSecondaryIndexes is empty")),
        ({"LocalSecondaryIndexes": []}, parameters("List of LocalSecondaryIndexes is empty")),
        (
            {
                "LocalSecondaryIndexes": [index("local", "pk:S x:S")],
                "AttributeDefinitions": definitions("pk:S x:S"),
            },
            parameters(
                "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
            ),
        ),
        (
            {
                "GlobalSecondaryIndexes": [index("same", "x:S"), index("same", "x:S")],
                "AttributeDefinitions": definitions("pk:S x:S"),
            },
            parameters("Duplicate index name: same"),
        ),
        (
            {
                "GlobalSecondaryIndexes": [
                    {**index("projected", "pk:S"), "Projection": {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]}}
                ],
            },
            parameters("ProjectionType is ALL, but NonKeyAttributes is specified"),
        ),
        (
            {"GlobalSecondaryIndexes": [{**index("projected", "pk:S"), "Projection": {"ProjectionType": "INCLUDE"}}]},
            parameters("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"),
        ),
        (
            {"GlobalSecondaryIndexes": [{**index("projected", "pk:S"), "Projection": {}}]},
            parameters("Unknown ProjectionType: null"),
        ),
        (
            {
                "GlobalSecondaryIndexes": [index("used", "x:S")],
                "AttributeDefinitions": definitions("pk:S x:S surplus:N"),
            },
            re.compile(
                re.escape(parameters("Some AttributeDefinitions are not used. AttributeDefinitions: ")) + r"\[.*\].*"
            ),
        ),
        (
            {"GlobalSecondaryIndexes": [index(f"index{number}", "pk:S") for number in range(21)]},
            parameters("GlobalSecondaryIndex count exceeds the per-table limit of 20"),
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True}},
            parameters("Table is being created with a stream enabled, UpdateViewType is required"),
        ),
        (
            {"GlobalSecondaryIndexes": [{**index("busy", "pk:S"), "ProvisionedThroughput": provisioned()}]},
            parameters(
                "ProvisionedThroughput should not be specified for index: busy when BillingMode is PAY_PER_REQUEST"
            ),
        ),
    ],
    ids=lambda value: str(value)[:70],
)
def test_faulty_table_is_refused(wire, changes, message):
    request = {name: value for name, value in {**table_request("pk:S"), **changes}.items() if value is not None}
    with invalid(message):
        wire.call("CreateTable", request)


@pytest.mark.parametrize(
    "local, message",
    [
        (
            index("local", "other:S sk:S"),
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: local. "
            "index hash key: other, table hash key: pk",
        ),
        (index("local", "pk:S"), "Index KeySchema does not have a range key for index: local"),
    ],
    ids=["hash", "range"],
)
def test_local_index_belongs_to_the_partition(wire, local, message):
    keys = "pk:S sk:S" + (" other:S" if "other" in message else "")
    with invalid(parameters(message)):
        wire.call(
            "CreateTable",
            table_request("pk:S sk:S", LocalSecondaryIndexes=[local], AttributeDefinitions=definitions(keys)),
        )


def test_six_local_indexes_are_too_many(wire):
    locals_ = [(f"local{number}", f"pk:S a{number}:S") for number in range(6)]
    with invalid(parameters("Number of LocalSecondaryIndexes exceeds per-table limit of 5")):
        wire.call("CreateTable", table_request("pk:S sk:S", local_indexes=locals_))
    create_table(wire, "pk:S sk:S", local_indexes=locals_[:5])


def test_table_can_be_created_once(wire, new_table):
    table = new_table("pk:S")
    with refused("ResourceInUseException", f"Table already exists: {table}"):
        wire.call("CreateTable", table_request("pk:S", name=table))


# ---- deleting


def test_deleted_table_is_gone_and_can_be_made_again(wire, new_table):
    table = new_table("pk:S")
    first_id = describe(wire, table)["TableId"]
    wire.call("PutItem", TableName=table, Item={"pk": {"S": "a"}})
    assert delete(wire, table)["TableStatus"] == "DELETING"
    with no_table(table):
        describe(wire, table)
    with refused("ResourceNotFoundException", NO_TABLE):
        wire.call("GetItem", TableName=table, Key={"pk": {"S": "a"}})
    create_table(wire, "pk:S", name=table)
    assert describe(wire, table)["TableId"] != first_id
    assert wire.call("Scan", TableName=table)["Count"] == 0


def test_protected_table_cannot_be_deleted(wire, new_table):
    table = new_table("pk:S", DeletionProtectionEnabled=True)
    assert describe(wire, table)["DeletionProtectionEnabled"] is True
    with invalid(
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
    ):
        wire.call("DeleteTable", TableName=table)
    wire.call("UpdateTable", TableName=table, DeletionProtectionEnabled=False)
    await_active(wire, table)
    delete(wire, table)


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable", "UpdateTable"])
def test_missing_table_is_named(wire, operation):
    more = {"DeletionProtectionEnabled": True} if operation == "UpdateTable" else {}
    with no_table("no-such-table"):
        wire.call(operation, TableName="no-such-table", **more)


# ---- listing


def test_tables_are_listed_in_pages(start_server):
    with start_server() as server:
        own = Wire(server)
        assert own.call("ListTables") == {"TableNames": []}
        names = [f"list-{letter}" for letter in "Bacdefg"]
        for name in names:
            create_table(own, name=name)
        in_order = sorted(names)
        assert own.call("ListTables") == {"TableNames": in_order}
        assert own.call("ListTables", Limit=3) == {
            "TableNames": in_order[:3],
            "LastEvaluatedTableName": in_order[2],
        }
        assert own.call("ListTables", Limit=100, ExclusiveStartTableName=in_order[2]) == {"TableNames": in_order[3:]}
        assert own.call("ListTables", Limit=4, ExclusiveStartTableName=in_order[2]) == {"TableNames": in_order[3:]}
        assert own.call("ListTables", ExclusiveStartTableName="list-cc") == {"TableNames": in_order[3:]}
        own.close()


@pytest.mark.parametrize(
    "members, fault",
    [
        ({"Limit": 0}, at("limit", "'0'", "Member must have value greater than or equal to 1")),
        ({"Limit": 101}, at("limit", "'101'", "Member must have value less than or equal to 100")),
        (
            {"ExclusiveStartTableName": "a"},
            at("exclusiveStartTableName", "'a'", "Member must have length greater than or equal to 3"),
        ),
    ],
    ids=str,
)
def test_faulty_listing_is_refused(wire, members, fault):
    with invalid(constraint(fault)):
        wire.call("ListTables", members)


# ---- updating


def test_update_changes_the_throughput(wire, new_table):
    table = new_table("pk:S", BillingMode="PROVISIONED", ProvisionedThroughput=provisioned(1, 1))
    answer = wire.call("UpdateTable", TableName=table, ProvisionedThroughput=provisioned(7, 8))["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert answer["ProvisionedThroughput"]["ReadCapacityUnits"] == 1
    throughput = await_active(wire, table)["ProvisionedThroughput"]
    assert (throughput["ReadCapacityUnits"], throughput["WriteCapacityUnits"]) == (7, 8)
    with invalid(
        "The provisioned throughput for the table will not change. The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 7. Requested ReadCapacityUnits: 7. Current "
        "WriteCapacityUnits provisioned for the table: 8. Requested WriteCapacityUnits: 8. Refer to the Amazon "
        "DynamoDB Developer Guide for current limits and how to request higher limits."
    ):
        wire.call("UpdateTable", TableName=table, ProvisionedThroughput=provisioned(7, 8))


def test_update_changes_the_billing_mode(wire, new_table):
    table = new_table("pk:S")
    with invalid(parameters("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")):
        wire.call("UpdateTable", TableName=table, BillingMode="PROVISIONED")
    wire.call("UpdateTable", TableName=table, BillingMode="PROVISIONED", ProvisionedThroughput=provisioned(2, 3))
    described = await_active(wire, table)
    assert described["ProvisionedThroughput"]["WriteCapacityUnits"] == 3
    wire.call("UpdateTable", TableName=table, BillingMode="PAY_PER_REQUEST")
    assert await_active(wire, table)["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_update_must_change_something(wire, new_table):
    with invalid(re.compile("At least one of ProvisionedThroughput, BillingMode, .* is required")):
        wire.call("UpdateTable", TableName=new_table("pk:S"))


def test_index_is_added_filled_and_removed(wire, new_table):
    table = new_table("pk:S")
    for number in range(30):
        item = {"pk": {"S": str(number)}, "n": {"N": str(number)}}
        if number % 2:
            item["kind"] = {"S": "odd"}
        if number == 1:
            item["kind"] = {"N": "1"}  # not a key of the index to come
        wire.call("PutItem", TableName=table, Item=item)
    wire.call(
        "UpdateTable",
        TableName=table,
        AttributeDefinitions=definitions("kind:S n:N"),
        GlobalSecondaryIndexUpdates=[{"Create": index("byKind", "kind:S n:N")}],
    )
    described = await_active(wire, table)
    assert "Backfilling" not in described["GlobalSecondaryIndexes"][0]
    answer = wire.call(
        "Query",
        TableName=table,
        IndexName="byKind",
        KeyConditionExpression="kind = :k",
        ExpressionAttributeValues={":k": {"S": "odd"}},
    )
    assert [int(item["n"]["N"]) for item in answer["Items"]] == list(range(3, 30, 2))
    with invalid("Attempting to create an index which already exists"):
        wire.call(
            "UpdateTable",
            TableName=table,
            AttributeDefinitions=definitions("kind:S"),
            GlobalSecondaryIndexUpdates=[{"Create": index("byKind", "kind:S")}],
        )
    wire.call("UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "byKind"}}])
    eventually(lambda: "GlobalSecondaryIndexes" not in describe(wire, table))
    described = await_active(wire, table)
    assert described["AttributeDefinitions"] == definitions("pk:S")
    with invalid("The table does not have the specified index: byKind"):
        wire.call("Scan", TableName=table, IndexName="byKind")


@pytest.mark.parametrize(
    "code, updates, message",
    [
        (
            "ResourceNotFoundException",
            [{"Delete": {"IndexName": "nowhere"}}],
            NO_TABLE + ": Index nowhere for table {table}",
        ),
        (
            "ValidationException",
            [{}],
            parameters(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            ),
        ),
        (
            "LimitExceededException",
            [{"Create": index("one", "x:S")}, {"Create": index("two", "x:S")}],
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        ),
    ],
    ids=["missing", "empty", "two"],
)
def test_faulty_index_update_is_refused(wire, new_table, code, updates, message):
    table = new_table("pk:S")
    with refused(code, message.format(table=table)):
        wire.call(
            "UpdateTable",
            TableName=table,
            AttributeDefinitions=definitions("x:S"),
            GlobalSecondaryIndexUpdates=updates,
        )


def test_table_class_can_be_changed(wire, new_table):
    table = new_table("pk:S", TableClass="STANDARD_INFREQUENT_ACCESS")
    assert describe(wire, table)["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    wire.call("UpdateTable", TableName=table, TableClass="STANDARD")
    summary = await_active(wire, table).get("TableClassSummary", {"TableClass": "STANDARD"})
    assert summary["TableClass"] == "STANDARD"


def test_names_may_use_all_letters_and_signs_of_the_pattern(wire):
    name = fresh_name("Az.09_-")
    create_table(wire, name=name)
    wire.call("PutItem", TableName=name, Item={"pk": {"S": "a"}})
    longest = (fresh_name() + "-" + "x" * 255)[:255]
    create_table(wire, name=longest)
    wire.call("PutItem", TableName=longest, Item={"pk": {"S": "a"}})
