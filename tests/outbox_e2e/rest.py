"""A client of the REST API that adds nothing of its own: what is asked goes out as it is, and so comes the answer."""

import http.client
import json
import ssl
from urllib.parse import urlencode, urlsplit

from waiting import PATIENCE_SECONDS, eventually

WORKING = {"ACCEPTED", "INTAKING", "READY", "PROCESSING"}


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        # One that goes on has no end to wait for.
        self.goes_on = self.headers.get("content-type") == "text/event-stream"
        self.body = b"" if self.goes_on else response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        """The body of a refusal, whose form is the same for all of them."""
        assert self.headers["content-type"].startswith("application/problem+json"), self
        problem = self.json
        assert problem["status"] == self.status
        assert problem["title"] and problem["detail"]
        assert problem["type"] == "urn:postino:problem:" + problem["code"]
        assert problem["request_id"] == self.headers["x-request-id"]
        return problem

    @property
    def broken_rules(self):
        """Rules by field."""
        return {error["field"]: error["rule"] for error in self.problem["errors"]}

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


class Rest:
    def __init__(self, url, key=None, ca=None, patience=PATIENCE_SECONDS):
        parts = urlsplit(url)
        self.patience = patience
        self.url, self.host, self.port = url, parts.hostname, parts.port
        self.key = key
        self.context = ssl.create_default_context(cafile=str(ca)) if ca else None
        self.connection = self._connect()

    def _connect(self):
        if self.context:
            return http.client.HTTPSConnection(self.host, self.port, timeout=self.patience, context=self.context)
        return http.client.HTTPConnection(self.host, self.port, timeout=self.patience)

    def with_key(self, key):
        return Rest(self.url, key)

    def request(self, method, path, body=None, headers=()):
        headers = dict(headers)
        if self.key and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.key}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        try:
            self.connection.request(method, path, body, headers)
            answer = Answer(self.connection.getresponse())
            if answer.goes_on:
                self.connection.close()
        except BaseException:
            self.connection.close()  # the next request gets a connection of its own
            raise
        assert "x-request-id" in answer.headers, answer
        return answer

    def get(self, path, headers=(), **query):
        return self.request("GET", path + ("?" + urlencode(query) if query else ""), headers=headers)

    def post(self, path, body=None, headers=()):
        return self.request("POST", path, body, headers)

    def put(self, path, body=None):
        return self.request("PUT", path, body)

    def delete(self, path):
        return self.request("DELETE", path)

    def fetch(self, path, **query):
        """The JSON of a GET that must succeed."""
        answer = self.get(path, **query)
        assert answer.status == 200, answer
        return answer.json

    def accept(self, *payloads, headers=()):
        """Hands in e-mails that must all be accepted, and returns their ids."""
        answer = self.post("/emails", {"data": list(payloads)}, headers)
        assert answer.status == 201, answer
        return [result["id"] for result in answer.json["results"]]

    def accept_one(self, payload):
        (identifier,) = self.accept(payload)
        return identifier

    def email(self, identifier):
        return self.fetch(f"/emails/{identifier}")

    def history(self, identifier):
        return [(line["status"], line["reason"]) for line in self.email(identifier)["history"]]

    def states(self, identifier):
        return [line["status"] for line in self.email(identifier)["history"]]

    def counts(self):
        return self.fetch("/emails/counts")["counts"]

    def await_email(self, identifier, condition, what, seconds=PATIENCE_SECONDS):
        """The e-mail as soon as the condition holds; the whole of it is shown when it does not."""
        seen = {}

        def look():
            seen.clear()
            seen.update(self.email(identifier))
            return condition(seen)

        try:
            eventually(look, what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(seen, indent=1)}") from None
        return seen

    def await_status(self, identifier, *statuses, seconds=PATIENCE_SECONDS):
        return self.await_email(identifier, lambda email: email["status"] in statuses, " or ".join(statuses), seconds)

    def await_outcome(self, identifier, seconds=PATIENCE_SECONDS):
        """The e-mail once it has been sent, or not, without any more work to do on the way there."""
        return self.await_email(identifier, lambda email: email["status"] not in WORKING, "an outcome", seconds)

    def pages(self, path, **query):
        """All elements of a list, page by page."""
        cursor = None
        while True:
            page = self.fetch(path, **query, **({"cursor": cursor} if cursor else {}))
            yield page["data"]
            cursor = page["cursor"]
            if cursor is None:
                return
