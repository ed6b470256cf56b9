"""Writes through DynamoDB's API: items that belong to one writer each, and transfers between accounts. And the journal
of what the writers were told."""

from dataclasses import dataclass, field

from callers import Callers
from patient_client import PatientWire, error_code

ITEMS, ACCOUNTS = "items", "accounts"
INDEX = "by-group"
GROUPS = 4
KEYS = 12  # of each writer
ACCOUNT_COUNT = 8
START_AMOUNT = 1_000
BETWEEN_WRITES_SECONDS = 0.05
ABSENT = None


def text_of(version):
    """The contents of an item follow from its version, so that half a write would show."""
    return f"version {version} " + "x" * (version * 37 % 900)


def item_of(key, version):
    return {
        "Id": {"S": key},
        "Version": {"N": str(version)},
        "Group": {"S": f"group-{version % GROUPS}"},
        "Text": {"S": text_of(version)},
    }


@dataclass
class Cell:
    """An item that one writer writes to. `possible` are the versions that it may have: one, unless the outcome of a write is unknown."""

    key: str
    possible: set = field(default_factory=lambda: {ABSENT})
    last_version: int = 0


@dataclass
class Transfer:
    id: str
    source: int
    target: int
    amount: int
    known: str = "unknown"  # or done, or refused


class TableLoad(Callers):
    def __init__(self, server, seed, verdict):
        super().__init__(BETWEEN_WRITES_SECONDS)
        self.server, self.verdict = server, verdict
        self.cells, self.transfers = [], []
        self.writes = 0
        for number in range(2):
            self._add_writer(self._write_items, f"{seed}/items/{number}")
            self._add_writer(self._transfer, f"{seed}/transfers/{number}")
        self._create_tables(PatientWire(server))

    def _create_tables(self, wire):
        def create(table, attributes, keys, **more):
            definitions = [{"AttributeName": name, "AttributeType": "S"} for name in attributes]
            schema = [{"AttributeName": name, "KeyType": "HASH"} for name in keys]
            wire.call_surely(
                "CreateTable",
                TableName=table,
                AttributeDefinitions=definitions,
                KeySchema=schema,
                BillingMode="PAY_PER_REQUEST",
                **more,
            )

        index_keys = [{"AttributeName": "Group", "KeyType": "HASH"}, {"AttributeName": "Id", "KeyType": "RANGE"}]
        index = {"IndexName": INDEX, "KeySchema": index_keys, "Projection": {"ProjectionType": "ALL"}}
        create(ITEMS, ["Id", "Group"], ["Id"], GlobalSecondaryIndexes=[index])
        create(ACCOUNTS, ["Id"], ["Id"])
        for number in range(ACCOUNT_COUNT):
            account = {"Id": {"S": f"account-{number}"}, "Amount": {"N": str(START_AMOUNT)}}
            wire.call_surely("PutItem", TableName=ACCOUNTS, Item=account)

    def _add_writer(self, work, seed):
        def write(wire, chance, number):
            work(wire, chance, seed, number)
            self.writes += 1

        self.add(seed, lambda: PatientWire(self.server), write)

    # Items

    def _write_items(self, wire, chance, seed, number):
        if number < KEYS:
            self.cells.append(Cell(f"{seed}/{number}"))
        mine = [cell for cell in self.cells if cell.key.startswith(f"{seed}/")]
        cell = chance.choice(mine)
        actions = [self._put, self._update, self._update_wrongly, self._delete, self._read]
        chance.choices(actions, [4, 4, 1, 1, 2])[0](wire, cell)

    def _settle(self, cell, reply, after):
        """The outcome of a write without an answer, or with one of 5xx, is unknown, unless it says that it was not done."""
        if reply is not None and reply.status == 503 and b"#ServiceUnavailable" in reply.body:
            return
        if reply is None or reply.status >= 500:
            cell.possible.add(after)
        elif reply.status == 200:
            cell.possible = {after}
        else:
            raise AssertionError(f"{reply} about {cell}")

    def _put(self, wire, cell):
        cell.last_version += 1
        reply = wire.call("PutItem", TableName=ITEMS, Item=item_of(cell.key, cell.last_version))
        self._settle(cell, reply, cell.last_version)

    def _update(self, wire, cell):
        """On condition that the item has the version that its writer believes in."""
        if len(cell.possible) > 1 or ABSENT in cell.possible:
            return
        (believed,) = cell.possible
        cell.last_version += 1
        reply = self._call_update(wire, cell, believed)
        refused = reply is not None and reply.status == 400
        self.verdict.check("a condition that holds is not refused", not refused, lambda: f"{reply} of {cell}")
        if not refused:
            self._settle(cell, reply, cell.last_version)

    def _update_wrongly(self, wire, cell):
        """On condition that the item has a version that it cannot have. What it would write is not possible then."""
        cell.last_version += 1
        reply = self._call_update(wire, cell, cell.last_version + 1)
        refused = reply is None or reply.status >= 500 or error_code(reply) == "ConditionalCheckFailedException"
        self.verdict.check("a condition that does not hold is refused", refused, lambda: f"{reply} of {cell}")

    def _call_update(self, wire, cell, believed):
        item = item_of(cell.key, cell.last_version)
        return wire.call(
            "UpdateItem",
            TableName=ITEMS,
            Key={"Id": item["Id"]},
            UpdateExpression="SET Version = :version, #group = :group, #text = :text",
            ConditionExpression="Version = :believed",
            ExpressionAttributeNames={"#group": "Group", "#text": "Text"},
            ExpressionAttributeValues={
                ":version": item["Version"],
                ":group": item["Group"],
                ":text": item["Text"],
                ":believed": {"N": str(believed)},
            },
        )

    def _delete(self, wire, cell):
        reply = wire.call("DeleteItem", TableName=ITEMS, Key={"Id": {"S": cell.key}})
        self._settle(cell, reply, ABSENT)

    def _read(self, wire, cell):
        reply = wire.call("GetItem", TableName=ITEMS, Key={"Id": {"S": cell.key}}, ConsistentRead=True)
        if reply is not None and reply.status == 200:
            self.check_item(cell, reply.json.get("Item"), "what was written is read")

    def check_item(self, cell, item, promise):
        version = ABSENT if item is None else int(item["Version"]["N"])
        right = version in cell.possible and (item is None or item == item_of(cell.key, version))
        self.verdict.check(promise, right, lambda: f"{item} of {cell}")

    # Transfers

    def _transfer(self, wire, chance, seed, number):
        source, target = chance.sample(range(ACCOUNT_COUNT), 2)
        transfer = Transfer(f"{seed}/{number}", source, target, chance.randrange(1, 400))
        self.transfers.append(transfer)
        for _ in range(chance.choice([1, 3])):  # the token makes a repeat the same transaction
            parts, token = self._parts(transfer), transfer.id[-36:]
            reply = wire.call("TransactWriteItems", TransactItems=parts, ClientRequestToken=token)
            if reply is not None and reply.status == 200:
                transfer.known = "done"
                return
            if reply is not None and reply.status == 400:
                self._refused(transfer, reply)
                return

    def _refused(self, transfer, reply):
        code = error_code(reply)
        assert code in ("TransactionCanceledException", "TransactionInProgressException"), reply
        if code == "TransactionCanceledException" and transfer.known == "unknown":
            transfer.known = "refused"

    def _parts(self, transfer):
        def change(number, amount, **more):
            values = {":amount": {"N": str(amount)}, **more.pop("values", {})}
            key = {"Id": {"S": f"account-{number}"}}
            update = {"TableName": ACCOUNTS, "Key": key, "UpdateExpression": "ADD Amount :amount", **more}
            return {"Update": {**update, "ExpressionAttributeValues": values}}

        limit = {":least": {"N": str(transfer.amount)}}
        receipt = {
            "TableName": ACCOUNTS,
            "Key": {"Id": {"S": f"transfer/{transfer.id}"}},
            "UpdateExpression": "ADD Times :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        taken = change(transfer.source, -transfer.amount, ConditionExpression="Amount >= :least", values=limit)
        return [taken, change(transfer.target, transfer.amount), {"Update": receipt}]
