"""Where the servers under test keep their e-mails: in the embedded store, in MariaDB, or in a store on another machine,
by DynamoDB's API, with the same tests.

    pytest --ledger mysql
"""

from mariadb_server import MariadbServer
from postino_server import Server
from store import OutboxItems


class StoreLedger:
    name = "store"

    def flags(self, data):
        """For a server with this data directory."""
        return []

    def states(self, binary, data):
        """Where every e-mail is, by id, seen while no server runs."""
        with Server(binary, data) as server:
            return {
                identifier: meta["Attributes"]["Latest"] for identifier, meta in OutboxItems(server).all_metas().items()
            }

    def close(self):
        pass


class MysqlLedger:
    """One server for all tests; each data directory has a database of its own."""

    name = "mysql"

    def __init__(self):
        self.server = MariadbServer()
        self.databases = {}

    def database(self, data):
        if data not in self.databases:
            self.databases[data] = self.server.new_database()
        return self.databases[data]

    def flags(self, data):
        return ["--ledger", "mysql", *self.server.flags(self.database(data))]

    def states(self, binary, data):
        return dict(self.server.query("SELECT id, status FROM emails", self.database(data)))

    def close(self):
        self.server.remove()


def shared_store_flags(endpoint, data):
    """For a server whose store is at this endpoint. What it puts into files, too, others must see."""
    keys = ["--store-key-id", "any", "--store-secret", "any"]
    objects = ["--objects", str(data.with_name(data.name + "-objects"))]
    return ["--store", "dynamodb", "--store-endpoint", endpoint, *keys, *objects]


class RemoteStoreLedger:
    """Each data directory has a store of its own beside it: another Postino stands for Amazon DynamoDB. It outlives the
    servers under test."""

    name = "remote"

    def __init__(self, binary):
        self.binary = binary
        self.stores = {}

    def store(self, data):
        if data not in self.stores:
            self.stores[data] = Server(self.binary, data.with_name(data.name + "-store"))
        return self.stores[data]

    def flags(self, data):
        return shared_store_flags(self.store(data).endpoint, data)

    def states(self, binary, data):
        metas = OutboxItems(self.store(data)).all_metas()
        return {identifier: meta["Attributes"]["Latest"] for identifier, meta in metas.items()}

    def close(self):
        for store in self.stores.values():
            store.kill()
