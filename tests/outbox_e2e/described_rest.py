"""The REST API as its OpenAPI document describes it: operations are called by their ids, and what they answer is held
against the document: the status, the type, and every field."""

import copy
import json
import re
from urllib.parse import quote, urlencode

from jsonschema import Draft202012Validator, FormatChecker, RefResolver

METHODS = {"get", "put", "post", "delete", "patch", "head", "options"}
FORMATS = {
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "duration": r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?",
    "uri": r"[a-z][a-z0-9+.-]*:\S+",
    "email": r"[^@\s]+@[^@\s]+",
}
PREFIX = "#/components/schemas/"


def format_checker():
    checker = FormatChecker(formats=())
    for name, pattern in FORMATS.items():
        checker.checks(name)(lambda value, pattern=pattern: not isinstance(value, str) or re.fullmatch(pattern, value))
    return checker


def referenced_parts(schema):
    """The schemas that are part of others."""
    if isinstance(schema, dict):
        for part in schema.get("allOf", []):
            if "$ref" in part:
                yield part["$ref"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from referenced_parts(each)


def close(schema, parts, is_part=False):
    """Makes it a fault to have a member that the schema does not name."""
    for part in schema.get("allOf", []):
        close(part, parts, is_part=True)
    for each in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(each, dict):
            close(each, parts)
    names_members = "properties" in schema or "allOf" in schema or schema.get("$ref") in parts
    if names_members and not is_part and "additionalProperties" not in schema:
        schema["unevaluatedProperties"] = False


class DescribedRest:
    def __init__(self, rest):
        self.rest = rest
        answer = rest.get("/openapi.json")
        assert answer.status == 200
        self.document = answer.json
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
            if method in METHODS
        }
        self.exercised = {}  # the statuses that were seen, by operation
        self.requests = RefResolver.from_schema(self.document)
        closed = copy.deepcopy(self.document)
        schemas = closed["components"]["schemas"]
        parts = set(referenced_parts(schemas))
        for name, schema in schemas.items():
            close(schema, parts, is_part=PREFIX + name in parts)
        self.answers = RefResolver.from_schema(closed)
        for schema in schemas.values():
            Draft202012Validator.check_schema(schema)

    def call(self, operation_id, expected, body=None, query=None, headers=(), **path):
        """Calls an operation as described, and returns its answer, which must have this status."""
        method, template, operation = self.operations[operation_id]
        known = {(each["in"], each["name"]) for each in operation.get("parameters", [])}
        given = {("path", name) for name in path} | {("query", name) for name in query or {}}
        given |= {("header", name) for name in dict(headers) if name.startswith("Idempotency")}
        assert given <= known, (operation_id, given - known)
        target = re.sub(r"\{(\w+)\}", lambda name: quote(path[name[1]], safe=""), template)
        answer = self.rest.request(method, target + ("?" + urlencode(query) if query else ""), body, headers)
        assert answer.status == expected, (operation_id, answer)
        if isinstance(body, dict) and answer.status < 300:
            self._check(body, operation["requestBody"]["content"]["application/json"]["schema"], self.requests)
        self._check_answer(operation, answer)
        self.exercised.setdefault(operation_id, set()).add(answer.status)
        return answer

    def _check_answer(self, operation, answer):
        assert str(answer.status) in operation["responses"], (operation["operationId"], answer)
        described = operation["responses"][str(answer.status)]
        for header in described.get("headers", {}):
            assert header.lower() in answer.headers
        contents = described.get("content", {})
        if not contents:
            assert answer.body == b"" and "content-type" not in answer.headers, answer
            return
        media_type = answer.headers["content-type"].partition(";")[0]
        assert media_type in contents, (operation["operationId"], media_type)
        if "schema" in contents[media_type]:
            self._check(answer.json, contents[media_type]["schema"], self.answers)

    @staticmethod
    def _check(value, schema, resolver):
        validator = Draft202012Validator(schema, resolver=resolver, format_checker=format_checker())
        faults = [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}" for fault in validator.iter_errors(value)]
        assert not faults, "\n".join([*faults, json.dumps(value)[:2000]])
