"""Every operation of the OpenAPI document is called, and what it really answers is held against the document. Those about
reminders are in test_described_reminders.py, those about metrics in test_metrics.py."""

import uuid

import pytest

from described_rest import DescribedRest
from payloads import in_the_future, payload
from test_bounces import AS_MESSAGE, report

NOBODY = "00000000-0000-4000-8000-000000000000"
SERVER_FLAGS = ("--callback-allow-private", "--callback-attempts", "1")


@pytest.fixture(scope="module")
def api(rest):
    return DescribedRest(rest)


def accept(api, **fields):
    (result,) = api.call("acceptEmails", 201, {"data": [payload(**fields)]}).json["results"]
    return result["id"]


@pytest.fixture(scope="module")
def sent(api):
    """An e-mail with everything in it that a payload can have, which was sent."""
    identifier = accept(
        api,
        id=str(uuid.uuid4()),
        **{"from": "Shop <billing@shop.example>"},
        reply_to="support@shop.example",
        to=["Ada <ada@customer.example>", "bob@customer.example"],
        cc="carol@customer.example",
        bcc=["dan@audit.example"],
        body_html="<p>It is attached.</p>",
        attachments=[{"name": "a.txt", "content_type": "text/plain", "content_base64": "YQ=="}],
        custom_headers={"X-One": "1"},
        tags=["invoice", "november"],
        callback_url="http://127.0.0.1:1/never",
        unsubscribe={"url": "https://shop.example/unsubscribe", "mailto": "unsubscribe@shop.example"},
    )
    api.rest.await_email(identifier, lambda it: it.get("callback", {}).get("dead"), "a dead callback")
    return identifier


@pytest.fixture(scope="module")
def waiting(api):
    identifier = accept(api, send_at=in_the_future())
    api.rest.await_status(identifier, "READY")
    return identifier


def test_acceptance(api, sent):
    key = {"Idempotency-Key": "described", "Idempotency-Expiry-Seconds": "60"}
    batch = {"data": [payload(id=sent), payload()]}
    api.call("acceptEmails", 200, batch, headers=key)
    assert api.call("acceptEmails", 200, batch, headers=key).headers["idempotent-replayed"] == "true"
    api.call("acceptEmails", 422, {"data": [payload()]}, headers=key)
    api.call("acceptEmails", 201, payload())
    api.call("acceptEmails", 422, {"data": [payload(id=sent)]})
    api.call("acceptEmails", 400, {"data": [payload(subject=None, colour="red")]})
    api.call("acceptEmails", 400, "{", headers={"Content-Type": "application/json"})
    api.call("acceptEmails", 415, "data", headers={"Content-Type": "text/plain"})


def test_emails(api, sent, waiting):
    assert api.call("getEmail", 200, id=sent).json["callback"]["dead"] is True
    assert "next_attempt_at" in api.call("getEmail", 200, id=waiting).json
    api.call("getEmail", 404, id=NOBODY)
    assert len(api.call("listEmails", 200, query={"limit": 1}).json["data"]) == 1
    for query in ({"status": "READY"}, {"since": "2020-01-01T00:00:00Z", "until": "2020-01-02T00:00:00Z"}):
        api.call("listEmails", 200, query=query)
    found = {"tag": "november", "to": "ada@customer.example", "from": "@shop.example", "subject": payload()["subject"]}
    assert [each["id"] for each in api.call("listEmails", 200, query=found).json["data"]] == [sent]
    api.call("listEmails", 400, query={"status": "LOST"})
    api.call("countEmails", 200)
    for operation in ("listStaleEmails", "listStaleEmailsByFormerPath", "listInvalidEmailsByFormerPath"):
        api.call(operation, 200)
    api.call("getMessage", 200, id=sent)
    api.call("getMessage", 404, id=NOBODY)
    api.call("getPayload", 200, id=sent)
    api.call("getPayload", 404, id=NOBODY)


def test_invalid_emails(api):
    invalid = accept(api, attachments=["nothing.pdf"])
    api.rest.await_status(invalid, "INVALID")
    assert invalid in [email["id"] for email in api.call("listInvalidEmails", 200).json["data"]]
    api.call("requeueEmail", 204, {"reason": "the file is there now"}, id=invalid)
    api.call("requeueEmail", 404, id=NOBODY)


def test_changes(api, sent, waiting):
    api.call("holdEmail", 204, {"reason": "wait for the lawyer"}, id=waiting)
    assert api.call("getEmail", 200, id=waiting).json["held_from"] == "READY"
    api.call("holdEmail", 409, id=waiting)
    api.call("releaseEmail", 204, id=waiting)
    key = {"Idempotency-Key": "cancel"}
    api.call("cancelEmail", 204, headers=key, id=waiting)
    api.call("cancelEmail", 204, headers=key, id=waiting)
    api.call("cancelEmail", 422, headers=key, id=sent)
    api.call("cancelEmail", 400, {"cause": "none"}, id=sent)


def test_retry(api, start, directory):
    """An e-mail that would wait for half an hour at least is tried again at once."""
    server = start("--smtp", "127.0.0.1:1", "--retry-first", "1h", data=directory / "other")
    elsewhere = DescribedRest(server.rest())
    identifier = accept(elsewhere)
    failed_once = lambda it: it["status"] == "READY" and it["attempts"] == 1  # noqa: E731
    elsewhere.rest.await_email(identifier, failed_once, "a first attempt")
    elsewhere.call("retryEmail", 204, id=identifier)
    elsewhere.rest.await_email(identifier, lambda it: it["attempts"] == 2, "a second attempt")
    elsewhere.call("retryEmail", 404, id=NOBODY)
    api.exercised["retryEmail"] = elsewhere.exercised["retryEmail"]


def test_callbacks(api, sent):
    assert sent in [email["id"] for email in api.call("listDeadCallbacks", 200).json["data"]]
    api.call("replayCallback", 204, {}, id=sent)
    api.call("replayCallback", 404, id=NOBODY)


def test_bounces_and_suppressions(api, sent):
    api.call("takeBounce", 200, report(sent, "ada@customer.example"), headers=AS_MESSAGE)
    api.call("takeBounce", 200, {"message": report(sent, "bob@customer.example")})
    api.call("takeBounce", 400, {"message": "Subject: no report\r\n\r\n"})
    api.call("takeBounce", 404, report(NOBODY, "ada@customer.example"), headers=AS_MESSAGE)
    assert api.call("getEmail", 200, id=sent).json["bounces"]
    api.call("suppressAddress", 204, {"reason": "asked for it"}, address="eve@customer.example")
    api.call("suppressAddress", 400, address="nobody")
    assert len(api.call("listSuppressions", 200).json["data"]) >= 3
    for address in ("ada@customer.example", "bob@customer.example", "eve@customer.example"):
        api.call("unsuppressAddress", 204, address=address)
    api.call("unsuppressAddress", 404, address="eve@customer.example")


def test_messages(api):
    messages = [
        {"body": "text", "correlationId": "c", "contentType": "text/plain", "properties": {"a": 1, "b": True}},
        {"body": {"a": [1]}, "format": "JSON", "headers": {"priority": 4}},
        {"body": "AAE=", "format": "BINARY"},
    ]
    target = {"queueName": "described", "replyToQueue": "answers"}
    settings = {"totalMessages": 4, "batchSize": 2, "timeToLive": "PT1H", "persistent": True}
    produce = {"idempotencyKey": "described", "target": target, "settings": settings, "messages": messages}
    api.call("produceMessages", 200, produce)
    api.call("produceMessages", 422, {**produce, "messages": messages[:1]})
    api.call("produceMessages", 400, {**produce, "settings": {"totalMessages": 0}})
    assert api.call("getQueueDepth", 200, queue="described", query={"connection": "embedded"}).json["depth"] == 4
    consume = {"target": {"queueName": "described"}, "settings": {"maxMessages": 9, "waitTimeout": "PT0S"}}
    answer = api.call("consumeMessages", 200, consume, headers={"Idempotency-Key": "described"})
    assert len(answer.json["messages"]) == 4
    api.call("consumeMessages", 400, consume)
    api.call("testConnection", 200, {})
    api.call("testConnection", 200, {"connection": "embedded"})
    endpoint = {"host": "127.0.0.1", "port": 1}
    unreachable = api.call("testConnection", 502, {"queueManager": {"endpoints": [endpoint]}})
    assert unreachable.json["endpoints"]


def test_capacity(api, sent, ledger):
    index = {"name": "i", "projection": "KEYS_ONLY", "entry_bytes": 100, "queries": "0.5", "key_changes_percent": 5}
    load = {"item_bytes": 3000, "strong_reads": 100, "writes": "2.5", "items": 1000, "free_tier": True, "indexes": [index]}
    api.call("planCapacity", 200, load)
    api.call("planCapacity", 200, {"item_bytes": 1})
    api.call("planCapacity", 400, {"item_bytes": 0})
    api.call("planCapacity", 400, "{", headers={"Content-Type": "application/json"})
    former = {"reads_per_second": 100, "writes_per_second": 20, "item_size_kb": 3.5, "storage_gb": "50.25"}
    api.call("planCapacityAsFormerly", 200, former)
    api.call("planCapacityAsFormerly", 400, {})
    api.call("getCapacityPrices", 200)
    observed = api.call("getObservedTraffic", 200).json
    assert observed["tables"]
    # A service on other machines does not say whose units it counts.
    assert bool(observed["hot_keys"]) == (ledger.name != "remote")
    api.call("restartObservation", 204)
    api.call("getObservedTraffic", 200)


def test_traffic_that_is_not_watched(api, start, directory):
    elsewhere = DescribedRest(start("--no-watch", data=directory / "other").rest())
    elsewhere.call("getObservedTraffic", 404)
    elsewhere.call("restartObservation", 404)
    elsewhere.call("planCapacity", 200, {"item_bytes": 1})


def test_description(api):
    api.call("checkHealth", 200)
    api.call("describeApi", 200)


def test_access(api, start, directory):
    keys = ("--api-key", "reader:reader:0123456789abcdef")
    server = start(*keys, data=directory / "other")
    with_key = DescribedRest(server.rest("0123456789abcdef"))
    with_key.call("countEmails", 200)
    with_key.call("acceptEmails", 403, {"data": [payload()]})
    DescribedRest(server.rest("a wrong one")).call("countEmails", 401)


def test_sessions(api, start, directory):
    # Of the reference implementation of argon2id, for "password".
    hashed = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    flags = ("--user", f"anna:operator@north:{hashed}", "--api-key", "shop:operator:0123456789abcdef")
    server = start(*flags, data=directory / "other")
    shop = DescribedRest(server.rest("0123456789abcdef"))
    session = shop.call("signIn", 201, {"user": "anna", "password": "password"}).json
    assert session["tenant"] == "north" and session["role"] == "operator"
    shop.call("signIn", 401, {"user": "anna", "password": "wrong"})
    shop.call("signIn", 400, {"user": "anna"})
    other = shop.call("signIn", 201, {"api_key": "0123456789abcdef"}).json
    anna = DescribedRest(server.rest(session["token"]))
    assert [each["id"] for each in anna.call("listOwnSessions", 200).json["data"]] == [session["id"]]
    anna.call("endOwnSession", 404, session=other["id"])
    anna.call("listSessions", 404, user="shop")
    assert shop.call("listSessions", 200, user="anna").json["data"][0]["signed_in_from"] == "127.0.0.1"
    shop.call("endSession", 204, user="anna", session=session["id"])
    shop.call("endSession", 404, user="anna", session=session["id"])
    anna.call("listOwnSessions", 401)
    assert shop.call("endSessions", 200, user="anna").json["removed"] == 0
    shop.call("endOwnSession", 204, session=other["id"])
    shop.call("endOwnSessions", 200)
    for _ in range(4):
        shop.call("signIn", 401, {"user": "berta", "password": "wrong"})
    # Each failure doubles the pause, so that a machine that is busy meets it, too.
    attempts = (shop.rest.post("/sessions", {"user": "berta", "password": "wrong"}) for _ in range(20))
    assert int(next(each for each in attempts if each.status == 429).headers["retry-after"]) >= 1
    log = "".join(server.log)
    assert "signed in" in log and "name=anna" in log
    assert not [secret for secret in (session["token"], "wrong", "berta") if secret in log]
    api.call("signIn", 404, {"user": "anna", "password": "password"})  # a server without users and keys
    for name, statuses in shop.exercised.items():
        api.exercised.setdefault(name, set()).update(statuses)
    api.exercised["listOwnSessions"] = anna.exercised["listOwnSessions"]


def test_audit(api):
    assert api.call("verifyAudit", 200).json["intact"]
    assert api.call("listAudit", 200).json["data"] is not None


# These come last: one empties the sandbox, the other looks at what the others did.


def test_sandbox(api, sent):
    assert sent in [mail["id"] for mail in api.call("listMailbox", 200).json["data"]]
    api.call("getMail", 200, id=sent)
    api.call("getMail", 404, id=NOBODY)
    assert api.call("clearMailbox", 200).json["removed"] > 0


def test_every_operation_was_called_and_has_succeeded(api):
    succeeded = {name for name, statuses in api.exercised.items() if any(status < 300 for status in statuses)}
    # In test_described_reminders.py, test_described_tickets.py, test_metrics.py, test_keys.py and test_backups.py.
    elsewhere = (["Reminders"], ["Tickets"], ["Metrics"], ["Keys"], ["Backups"])
    assert succeeded == {name for name, (_, _, operation) in api.operations.items() if operation["tags"] not in elsewhere}
