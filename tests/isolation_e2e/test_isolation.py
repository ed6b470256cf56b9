"""No caller sees or changes what belongs to another tenant or customer, whichever operation is called. The requests are made
from the OpenAPI document: an operation that belongings.py says nothing about fails the test, which tells what to add."""

import http.client
import json
import re
import subprocess
from urllib.parse import quote, urlencode

import pytest

from belongings import (
    BODIES,
    CHANGING,
    CONTENT_TYPES,
    HASH,
    MARK,
    OTHER_PARAMETERS,
    OWN_BY_NAME,
    PATH_PARAMETERS,
    QUERY_PARAMETERS,
    SHOW_NOTHING,
    SPECIAL_QUERIES,
    TELL_OF_CALLERS,
    USER,
    Belongings,
    key_of,
)
from outbox_server import OutboxServer

OWNER, TENANT, CUSTOMER = "owner-0123456789abcdef", "tenant-0123456789abcdef", "customer-0123456789abcdef"
FLAGS = [
    *("--api-key", f"north:operator@north:{OWNER}"),
    *("--api-key", f"south:operator@south:{TENANT}"),
    *("--api-key", f"other:operator@north/C-other:{CUSTOMER}"),
    *("--user", f"{USER}:operator@north:{HASH}"),
    *("--reminders-from", "Billing <billing@shop.example>"),
    *("--callback-allow-private", "--callback-attempts", "1"),
]
METHODS = ("get", "put", "post", "delete", "patch")


class FirstEvent:
    """Of an answer that goes on, what comes first. A refusal is whole."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = b""
        while line := response.readline():
            self.body += line
            if line == b"\n" and self.status == 200:
                break


def first_event(caller, target):
    connection = http.client.HTTPConnection(caller.host, caller.port, timeout=caller.patience)
    connection.request("GET", target, headers={"Authorization": f"Bearer {caller.key}"})
    answer = FirstEvent(connection.getresponse())
    connection.close()
    return answer


class Operation:
    def __init__(self, method, path, described, things):
        self.id, self.method, self.path = described["operationId"].removesuffix("ByFormerPath"), method.upper(), path
        self.described, self.things = described, things
        self.reads = self.method == "GET"
        self.names = [each["name"] for each in described.get("parameters", []) if each["in"] == "query"]
        self.has_ids = "{" in path
        self.goes_on = "text/event-stream" in described["responses"].get("200", {}).get("content", {})

    def thing(self, parameter):
        fitting = [begin for begin, name in PATH_PARAMETERS if name == parameter and self.path.startswith(begin)]
        assert fitting, f"{self.id}: say in belongings.PATH_PARAMETERS what {{{parameter}}} of {self.path} stands for"
        return self.things[PATH_PARAMETERS[max(fitting, key=len), parameter]]

    @property
    def target(self):
        return re.sub(r"\{(\w+)\}", lambda name: quote(self.thing(name[1]), safe=""), self.path)

    def queries(self):
        """Without filters, with each filter that names something of the owner, and with all others."""
        special = SPECIAL_QUERIES.get(self.id)
        if special:
            return [{name: value.format(**self.things) for name, value in each.items()} for each in special]
        unknown = [name for name in self.names if name not in {**QUERY_PARAMETERS, **OTHER_PARAMETERS}]
        assert not unknown, f"{self.id}: give examples of {unknown} in belongings.QUERY_PARAMETERS or OTHER_PARAMETERS"
        others = {name: OTHER_PARAMETERS[name] for name in self.names if OTHER_PARAMETERS.get(name) is not None}
        named = [{name: QUERY_PARAMETERS[name].format(**self.things)} for name in self.names if name in QUERY_PARAMETERS]
        return [{}, others, *named]

    def body(self):
        if "requestBody" not in self.described:
            return None
        assert self.id in BODIES, f"{self.id}: give an example of its body in belongings.BODIES"
        body = BODIES[self.id]
        if isinstance(body, dict):
            for name, value in self.things.items():
                body = json.loads(json.dumps(body).replace(f'"{{{name}}}"', json.dumps(value)))
        return body

    def call(self, caller, query=None):
        target = self.target + ("?" + urlencode(query) if query else "")
        body = self.body()
        headers = key_of(self.method, self.target)
        if self.id in CONTENT_TYPES:
            headers["Content-Type"] = CONTENT_TYPES[self.id]
        answer = first_event(caller, target) if self.goes_on else caller.request(self.method, target, body, headers)
        assert answer.status < 500 and answer.status != 405, (self.id, answer)
        sent = target + (body if isinstance(body, str) else json.dumps(body))
        return answer, sent


@pytest.fixture(scope="module")
def server(binary, module_directory, data_flags):
    known = subprocess.run([binary, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    of_tickets = ("--tickets-from", "Support <support@shop.example>") if "--tickets-from" in known else ()
    data = module_directory / "data"
    with OutboxServer(binary, data, *data_flags(data), *FLAGS, *of_tickets) as server:
        yield server


@pytest.fixture(scope="module")
def owner(server):
    return server.rest(OWNER)


@pytest.fixture(scope="module")
def paths(owner):
    return owner.fetch("/openapi.json")["paths"]


@pytest.fixture(scope="module")
def belongings(owner, paths):
    return Belongings(owner, has_tickets="/tickets" in paths)


@pytest.fixture(scope="module")
def operations(paths, belongings):
    return [
        Operation(method, path, described, belongings.things)
        for path, methods in paths.items()
        for method, described in methods.items()
        if method in METHODS
    ]


@pytest.fixture(scope="module", params=[TENANT, CUSTOMER], ids=["another tenant", "another customer"])
def stranger(server, request):
    return server.rest(request.param)


def text_of(answer):
    return answer.body.decode(errors="replace") + json.dumps(answer.headers)


def leaks(belongings, answer, known):
    """Marks in an answer that the stranger did not send."""
    text = text_of(answer)
    return sorted(mark for mark in belongings.marks if mark in text and mark not in known)


def seen_in(answer):
    """What an answer shows. Refusals have an id of their own, which shows nothing."""
    return answer.body if answer.status == 200 else answer.status


def seen_by(owner, operations):
    """Everything that the owner sees, by operation."""
    return {
        (operation.path, json.dumps(query)): seen_in(operation.call(owner, query)[0])
        for operation in operations
        if operation.reads and operation.id not in CHANGING
        for query in operation.queries()
    }


def test_the_owner_sees_marks(owner, operations):
    """Otherwise it would show nothing that others do not see them."""
    blind = {
        operation.path: operation.call(owner, operation.queries()[0])[0]
        for operation in operations
        if operation.reads and operation.id not in SHOW_NOTHING
    }
    blind = {name: answer for name, answer in blind.items() if answer.status != 200 or MARK not in text_of(answer)}
    assert not blind, f"make something that these show to the owner, or say in SHOW_NOTHING why they do not: {blind}"


def test_strangers_read_nothing(stranger, belongings, operations):
    for operation in operations:
        if not operation.reads:
            continue
        for query in operation.queries():
            answer, sent = operation.call(stranger, query)
            if operation.id in TELL_OF_CALLERS and answer.status == 200:
                assert {entry["tenant"] for entry in answer.json["data"]} <= {"south"}, (operation.id, query, answer)
                continue
            assert not leaks(belongings, answer, sent), (operation.id, query, answer)
            if operation.has_ids and operation.id not in OWN_BY_NAME:
                assert answer.status in (403, 404), (operation.id, query, answer)


def test_cursors_lead_strangers_nowhere(stranger, owner, belongings, operations):
    tried = 0
    for operation in operations:
        if not operation.reads or "cursor" not in operation.names:
            continue
        page = operation.call(owner, {**operation.queries()[0], "limit": "1"})[0]
        cursor = page.json.get("cursor") if page.headers.get("content-type") == "application/json" else None
        if cursor is None:
            continue
        tried += 1
        answer, sent = operation.call(stranger, {**operation.queries()[0], "limit": "1", "cursor": cursor})
        assert not leaks(belongings, answer, sent), (operation.id, answer)
        assert answer.status in (400, 403, 404), (operation.id, answer)
    assert tried > 0


def test_strangers_change_nothing(stranger, owner, belongings, operations):
    before = seen_by(owner, operations)
    known = ""  # what strangers make themselves they may see
    for operation in operations:
        if operation.reads:
            continue
        answer, sent = operation.call(stranger)
        known += sent
        assert not leaks(belongings, answer, known), (operation.id, answer)
    after = seen_by(owner, operations)
    changed = {key: (before[key], after[key]) for key in before if before[key] != after[key]}
    assert not changed, changed
