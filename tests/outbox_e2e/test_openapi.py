"""The description of the API, and the API: each has what the other has."""

import re
import subprocess
import urllib.request
import uuid

import pytest

from payloads import in_the_future, payload
from postino_server import Server
from store import dynamodb
from waiting import PATIENCE_SECONDS

# Called by test_described_*.py, test_metrics.py, test_backups.py and test_keys.py.
ELSEWHERE = ("Reminders", "Tickets", "Metrics", "Sessions", "Backups", "Keys")

ROUTES = {
    ("POST", "/emails"),
    ("GET", "/emails"),
    ("GET", "/emails/counts"),
    ("GET", "/emails/{id}"),
    ("GET", "/emails/{id}/message"),
    ("GET", "/emails/{id}/payload"),
    ("POST", "/emails/{id}/cancel"),
    ("POST", "/emails/{id}/hold"),
    ("POST", "/emails/{id}/release"),
    ("POST", "/emails/{id}/requeue"),
    ("POST", "/emails/{id}/retry"),
    ("GET", "/emails/stale"),
    ("GET", "/emails/invalid"),
    ("GET", "/stale-emails"),
    ("GET", "/invalid-emails"),
    ("GET", "/dead-callbacks"),
    ("POST", "/dead-callbacks/{id}/replay"),
    ("POST", "/bounces"),
    ("GET", "/suppressions"),
    ("PUT", "/suppressions/{address}"),
    ("DELETE", "/suppressions/{address}"),
    ("GET", "/mailbox"),
    ("GET", "/mailbox/{id}"),
    ("DELETE", "/mailbox"),
    ("POST", "/messages/produce"),
    ("POST", "/messages/consume"),
    ("GET", "/messages/queues/{queue}/depth"),
    ("POST", "/messages/connections/test"),
    ("POST", "/reminders/drafts"),
    ("GET", "/reminders/drafts"),
    ("POST", "/reminders/drafts/{id}/approve"),
    ("GET", "/reminders/customers/{id}/history"),
    ("GET", "/reminders/sent"),
    ("POST", "/draft-email"),
    ("GET", "/email-drafts"),
    ("GET", "/email-history"),
    ("POST", "/capacity/plan"),
    ("POST", "/capacity/former-plan"),
    ("GET", "/capacity/prices"),
    ("GET", "/capacity/observed"),
    ("POST", "/capacity/observed/restart"),
    ("GET", "/figures"),
    ("GET", "/figures/live"),
    ("GET", "/figures/{source}/history"),
    ("GET", "/figures/followers"),
    ("POST", "/figures/{source}/recount"),
    ("GET", "/figures/set-aside"),
    ("POST", "/figures/set-aside/{id}/retry"),
    ("DELETE", "/figures/set-aside/{id}"),
    ("GET", "/health-check"),
    ("GET", "/openapi.json"),
}
METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}


@pytest.fixture(scope="module")
def document(rest):
    answer = rest.get("/openapi.json")
    assert answer.status == 200 and answer.headers["content-type"].startswith("application/json")
    return answer.json


def operations(document):
    return {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


def test_it_is_openapi(document, binary):
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["title"]
    program = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
    assert program.stdout.split() == ["postino", document["info"]["version"]], "one version everywhere"
    names = [operation["operationId"] for operation in operations(document).values()]
    assert len(set(names)) == len(names)
    for reference in set(references(document)):
        target = document
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]  # a reference that leads nowhere ends here
    for (method, path), operation in operations(document).items():
        named = {each["name"] for each in operation.get("parameters", []) if each.get("in") == "path"}
        assert named == {part[1:-1] for part in path.split("/") if part.startswith("{")}, path
        assert operation["responses"], (method, path)


def test_it_describes_every_route(document):
    assert set(operations(document)) >= ROUTES


def test_every_route_is_there_and_answers_as_described(rest, document):
    sent = rest.accept_one(payload())
    rest.await_status(sent, "SENT")
    waiting = rest.accept_one(payload(send_at=in_the_future()))
    rest.await_status(waiting, "READY")
    address = f"{uuid.uuid4().hex}@customer.example"
    # In an order in which each finds what it needs; what is not named here comes first, about what was sent.
    order = {("PUT", "/suppressions/{address}"): 1, ("DELETE", "/suppressions/{address}"): 2, ("DELETE", "/mailbox"): 3}
    bodies = {
        ("POST", "/emails"): {"data": [payload()]},
        ("POST", "/bounces"): {"message": "Subject: no report\r\n\r\n"},
        ("POST", "/messages/produce"): {
            "idempotencyKey": "k",
            "target": {"queueName": "q"},
            "messages": [{"body": "x"}],
        },
        ("POST", "/messages/consume"): {"idempotencyKey": "k", "target": {"queueName": "q"}},
        ("POST", "/messages/connections/test"): {},
        ("POST", "/capacity/plan"): {"item_bytes": 100},
        ("POST", "/capacity/former-plan"): {
            "reads_per_second": 1,
            "writes_per_second": 1,
            "item_size_kb": 1,
            "storage_gb": 1,
        },
    }
    for method, path in sorted(operations(document), key=lambda route: order.get(route, 0)):
        if operations(document)[method, path]["tags"][0] in ELSEWHERE:
            continue
        identifier = waiting if path.endswith(("/cancel", "/hold", "/release")) else sent
        target = path.replace("{id}", identifier).replace("{address}", address).replace("{queue}", "q")
        answer = rest.request(method, target, bodies.get((method, path)))
        assert answer.status not in (404, 405) and answer.status < 500, (method, path, answer)
        described = operations(document)[method, path]["responses"]
        assert str(answer.status) in described, (method, path, answer)


def test_health_readiness_and_metrics_are_on_both_ports(outbox, rest):
    assert rest.get("/health-check").json == {"status": "ok"}
    for url in (outbox.url, outbox.endpoint):
        for path in ("/healthz", "/readyz", "/metrics"):
            with urllib.request.urlopen(url + path, timeout=PATIENCE_SECONDS) as answer:
                assert answer.status == 200, path
                if path == "/metrics":
                    assert b'postino_outbox_emails{state="SENT"}' in answer.read()


def accepted_connections(outbox, server):
    with urllib.request.urlopen(outbox.url + "/metrics", timeout=PATIENCE_SECONDS) as answer:
        text = answer.read().decode()
    assert text.count("# TYPE postino_http_connections_accepted_total counter\n") == 1
    return int(re.search(rf'^postino_http_connections_accepted_total{{server="{server}"}} (\d+)$', text, re.M)[1])


@pytest.mark.parametrize("server", ["dynamodb", "rest"])
def test_connections_are_counted_for_each_server(outbox, server):
    before = accepted_connections(outbox, server)
    url = outbox.url if server == "rest" else outbox.endpoint
    for _ in range(5):
        with urllib.request.urlopen(url + "/healthz", timeout=PATIENCE_SECONDS) as answer:
            assert answer.status == 200
    assert accepted_connections(outbox, server) >= before + 5


def test_outbox_can_be_left_out(binary, directory):
    with Server(binary, directory / "data") as server:  # which is started with --no-outbox
        assert dynamodb(server).list_tables()["TableNames"] == []
    assert not [line for line in server.log if "REST API" in line]
