"""POST /emails: what is answered, and that nothing is accepted twice."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from payloads import in_the_future, payload


def new_id():
    return str(uuid.uuid4())


def total(rest):
    return rest.fetch("/emails/counts")["total"]


def keyed(key, **more):
    return {"Idempotency-Key": key, **more}


def test_all_accepted_is_201(rest):
    own = new_id()
    answer = rest.post("/emails", {"data": [payload(), payload(id=own)]})
    assert answer.status == 201
    first, second = answer.json["results"]
    assert answer.json["summary"] == {"total": 2, "successful": 2, "failed": 0}
    assert first == {"id": str(uuid.UUID(first["id"])), "status": "ACCEPTED"}
    assert second == {"id": own, "status": "ACCEPTED"}


def test_some_accepted_is_200(rest):
    taken = rest.accept_one(payload())
    answer = rest.post("/emails", {"data": [payload(), payload(id=taken, subject="Another")]})
    assert answer.status == 200
    assert answer.json["summary"] == {"total": 2, "successful": 1, "failed": 1}
    refused = answer.json["results"][1]
    assert (refused["id"], refused["status"], refused["error"]["code"]) == (taken, "REJECTED", "DUPLICATED_ID")
    assert refused["error"]["message"]


def test_none_accepted_is_422_and_the_first_one_stays_as_it_was(rest):
    taken = rest.accept_one(payload(subject="The first"))
    answer = rest.post("/emails", {"data": [payload(id=taken, subject="The second")]})
    assert answer.status == 422
    assert answer.json["summary"] == {"total": 1, "successful": 0, "failed": 1}
    assert rest.get(f"/emails/{taken}/payload").json["subject"] == "The first"


def test_one_id_twice_in_a_batch_is_accepted_once(rest):
    twice = new_id()
    answer = rest.post("/emails", {"data": [payload(id=twice), payload(id=twice)]})
    assert answer.status == 200
    assert sorted(result["status"] for result in answer.json["results"]) == ["ACCEPTED", "REJECTED"]
    rest.await_status(twice, "SENT")


def test_malformed_element_refuses_the_whole_batch(rest):
    before = total(rest)
    good = new_id()
    answer = rest.post("/emails", {"data": [payload(id=good), payload(to="not an address", subject=None), payload()]})
    assert answer.status == 400
    assert set(answer.broken_rules) == {"data[1].to", "data[1].subject"}
    assert rest.get(f"/emails/{good}").status == 404
    assert total(rest) == before


@pytest.mark.parametrize("count", [100, 101, 0])
def test_batch_has_1_to_100_elements(rest, count):
    before = total(rest)
    answer = rest.post("/emails", {"data": [payload(send_at=in_the_future()) for _ in range(count)]})
    if count == 100:
        assert answer.status == 201
        assert total(rest) == before + 100
    else:
        assert answer.status == 400 and list(answer.broken_rules) == ["data"]
        assert total(rest) == before


def test_payload_is_kept_as_it_was_handed_in(rest):
    handed_in = payload(id=new_id(), cc=["Bob <bob@customer.example>"], tags=["a", "b"], custom_headers={"X-A": "1"})
    identifier = rest.accept_one(handed_in)
    answer = rest.get(f"/emails/{identifier}/payload")
    assert answer.headers["content-type"].startswith("application/json")
    kept = answer.json
    for field in ("id", "subject", "body_text", "tags", "custom_headers"):
        assert kept[field] == handed_in[field]


class TestIdempotencyKey:
    def test_same_request_gets_the_same_answer(self, rest):
        before = total(rest)
        body = {"data": [payload(), payload()]}
        first, second = (rest.post("/emails", body, keyed("same-request")) for _ in range(2))
        assert (first.status, second.status) == (201, 201)
        assert second.json == first.json
        assert second.headers["idempotent-replayed"] == "true" and "idempotent-replayed" not in first.headers
        assert total(rest) == before + 2

    def test_partial_answer_is_replayed_with_its_status(self, rest):
        taken = rest.accept_one(payload())
        body = {"data": [payload(), payload(id=taken)]}
        first, second = (rest.post("/emails", body, keyed("partial")) for _ in range(2))
        assert (first.status, second.status) == (200, 200) and first.json == second.json

    def test_refusal_of_all_is_replayed_with_its_status(self, rest):
        taken = rest.accept_one(payload())
        first, second = (rest.post("/emails", {"data": [payload(id=taken)]}, keyed("none")) for _ in range(2))
        assert (first.status, second.status) == (422, 422) and first.json == second.json
        assert second.headers["idempotent-replayed"] == "true"

    def test_formatting_makes_no_other_request(self, rest):
        body = {"data": [payload()]}
        first = rest.post("/emails", body, keyed("formatting"))
        spaced = json.dumps(body, indent=4, sort_keys=True)
        second = rest.post("/emails", spaced, keyed("formatting", **{"Content-Type": "application/json"}))
        assert second.json == first.json and second.headers["idempotent-replayed"] == "true"

    def test_quoted_key_is_the_same_key(self, rest):
        body = {"data": [payload()]}
        first = rest.post("/emails", body, keyed("quoted"))
        second = rest.post("/emails", body, keyed('"quoted"'))
        assert second.json == first.json

    def test_other_request_is_422(self, rest):
        before = total(rest)
        assert rest.post("/emails", {"data": [payload()]}, keyed("other-request")).status == 201
        answer = rest.post("/emails", {"data": [payload(subject="Another")]}, keyed("other-request"))
        assert answer.status == 422 and answer.problem["code"] == "IDEMPOTENCY_KEY_REUSED"
        assert total(rest) == before + 1

    def test_malformed_request_does_not_use_up_the_key(self, rest):
        assert rest.post("/emails", {"data": [payload(to="nobody")]}, keyed("mended")).status == 400
        assert rest.post("/emails", {"data": [payload()]}, keyed("mended")).status == 201

    @pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "ünïcode", '"unclosed', '"a" b'])
    def test_malformed_key_is_400(self, rest, key):
        before = total(rest)
        answer = rest.post("/emails", {"data": [payload()]}, keyed(key.encode("utf-8")))
        assert answer.status == 400 and list(answer.broken_rules) == ["Idempotency-Key"]
        assert total(rest) == before

    def test_longest_key_is_fine(self, rest):
        assert rest.post("/emails", {"data": [payload()]}, keyed("x" * 255)).status == 201

    @pytest.mark.parametrize("life", ["0", "2592001", "soon", "", "-1", "1e3"])
    def test_malformed_life_of_a_key_is_400(self, rest, life):
        headers = keyed("life-" + life, **{"Idempotency-Expiry-Seconds": life})
        answer = rest.post("/emails", {"data": [payload()]}, headers)
        assert answer.status == 400 and list(answer.broken_rules) == ["Idempotency-Expiry-Seconds"]

    @pytest.mark.parametrize("life", ["1", "2592000"])
    def test_life_of_a_key_can_be_chosen(self, rest, life):
        headers = keyed("long-life-" + life, **{"Idempotency-Expiry-Seconds": life})
        assert rest.post("/emails", {"data": [payload()]}, headers).status == 201

    def test_many_at_once_are_one(self, outbox, rest):
        before = total(rest)
        body = {"data": [payload(subject=f"Number {number}") for number in range(50)]}
        clients = [outbox.rest() for _ in range(8)]
        with ThreadPoolExecutor(len(clients)) as pool:
            answers = list(pool.map(lambda client: client.post("/emails", body, keyed("at-once")), clients))
        assert {answer.status for answer in answers} <= {201, 409}
        done = [answer for answer in answers if answer.status == 201]
        assert done and all(answer.json == done[0].json for answer in done)
        for refused in (answer for answer in answers if answer.status == 409):
            assert refused.problem["code"] and "retry-after" in refused.headers
        assert rest.post("/emails", body, keyed("at-once")).json == done[0].json
        assert total(rest) == before + 50

    def test_survives_a_restart(self, start):
        server = start()
        body = {"data": [payload()]}
        first = server.rest().post("/emails", body, keyed("restart"))
        server.kill()
        second = start().rest().post("/emails", body, keyed("restart"))
        assert (second.status, second.json) == (201, first.json)
        assert second.headers["idempotent-replayed"] == "true"

    def test_can_be_required(self, start):
        rest = start("--require-idempotency-key").rest()
        answer = rest.post("/emails", {"data": [payload()]})
        assert answer.status == 400 and answer.problem
        assert rest.post("/emails", {"data": [payload()]}, keyed("given")).status == 201
