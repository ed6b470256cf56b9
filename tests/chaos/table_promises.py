"""What was promised of tables, looked at from outside after everything has settled."""

import collections

from patient_client import PatientWire
from table_load import ACCOUNT_COUNT, ACCOUNTS, GROUPS, INDEX, ITEMS, START_AMOUNT


class TablePromises:
    def __init__(self, server, load, verdict):
        self.load, self.verdict = load, verdict
        self.wire = PatientWire(server)

    def _pages(self, operation, **members):
        items, more = [], {}
        while True:
            page = self.wire.call_surely(operation, **members, **more)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def check_all(self):
        self._check_items()
        self._check_transfers()

    def check_outbox(self, listed):
        """The e-mails that the outbox lists, which it does by an index, are those in its table."""
        pages = self._pages(
            "Scan",
            TableName="email-outbox",
            ConsistentRead=True,
            FilterExpression="#status = :meta",
            ExpressionAttributeNames={"#status": "Status"},
            ExpressionAttributeValues={":meta": {"S": "_META"}},
        )
        there = {item["Id"]["S"] for item in pages}
        self.verdict.check("items and indexes agree", there == set(listed), lambda: f"e-mails: {there ^ set(listed)}")

    def _check_items(self):
        scanned = {item["Id"]["S"]: item for item in self._pages("Scan", TableName=ITEMS, ConsistentRead=True)}
        for cell in self.load.cells:
            self.load.check_item(cell, scanned.get(cell.key), "what was written is there")
        written = {cell.key for cell in self.load.cells}
        self.verdict.check("nothing is there that was not written", scanned.keys() <= written, scanned.keys() - written)
        for number in range(GROUPS):
            group = f"group-{number}"
            found = self._pages(
                "Query",
                TableName=ITEMS,
                IndexName=INDEX,
                KeyConditionExpression="#group = :group",
                ExpressionAttributeNames={"#group": "Group"},
                ExpressionAttributeValues={":group": {"S": group}},
            )
            expected = [item for _, item in sorted(scanned.items()) if item["Group"]["S"] == group]
            seen = lambda: f"{group}: {found}, not {expected}"
            self.verdict.check("items and indexes agree", found == expected, seen)

    def _check_transfers(self):
        items = {item["Id"]["S"]: item for item in self._pages("Scan", TableName=ACCOUNTS, ConsistentRead=True)}
        expected = collections.Counter({number: START_AMOUNT for number in range(ACCOUNT_COUNT)})
        for transfer in self.load.transfers:
            receipt = items.get(f"transfer/{transfer.id}")
            times = int(receipt["Times"]["N"]) if receipt else 0
            allowed = {"done": {1}, "refused": {0}, "unknown": {0, 1}}[transfer.known]
            seen = f"{times} times: {transfer}"
            self.verdict.check("a transaction is done once or not at all", times in allowed, seen)
            expected[transfer.source] -= times * transfer.amount
            expected[transfer.target] += times * transfer.amount
        amounts = {number: int(items[f"account-{number}"]["Amount"]["N"]) for number in range(ACCOUNT_COUNT)}
        self.verdict.check("the sum stays", sum(amounts.values()) == ACCOUNT_COUNT * START_AMOUNT, f"{amounts}")
        for number, amount in amounts.items():
            seen = f"account {number}: {amount}, not {expected[number]}"
            self.verdict.check("a transaction is whole", amount == expected[number], seen)
