"""What tests say about answers."""

import re
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from postino_server import PATIENCE_SECONDS
from botocore.exceptions import ClientError

from wire import Refused

CONDITION_FAILED = "The conditional request failed"
KEY_MISMATCH = "The provided key element does not match the schema"
NO_TABLE = "Requested resource not found"
DUPLICATE_KEYS = "Provided list of item keys contains duplicates"
# For the few faults whose wording is not known.
ANY_MESSAGE = re.compile("(?s).+")


def parameters(text):
    """The way most messages about parameters begin."""
    return f"One or more parameter values were invalid: {text}"


def constraint(*faults):
    """The message for requests that break the rules of the API's model."""
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
    return count + "; ".join(faults)


def at(path, value, rule):
    return f"Value {value} at '{path}' failed to satisfy constraint: {rule}"


@contextmanager
def refused(code, message):
    """The block is refused with this code and this message (a text, or a pattern for the whole of it)."""
    seen = SimpleNamespace()
    try:
        yield seen
    except ClientError as error:
        seen.code = error.response["Error"]["Code"]
        seen.message = error.response["Error"]["Message"]
        seen.body = error.response
    except Refused as error:
        seen.code, seen.message, seen.body = error.code, error.message, error.body
    else:
        pytest.fail(f"not refused; expected {code}: {message}", pytrace=False)
    assert (seen.code, seen.message) == (code, matching(message, seen.message))


def invalid(message):
    return refused("ValidationException", message)


def matching(expected, actual):
    """The actual text when the expected pattern fits it, so that a difference shows both."""
    if isinstance(expected, re.Pattern) and expected.fullmatch(actual or ""):
        return actual
    return expected


def canonical(value):
    """A value or item with its sets in order: the order of set members means nothing."""
    if isinstance(value, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") and isinstance(member, list) else canonical(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [canonical(member) for member in value]
    return value


def in_any_order(items):
    return sorted((canonical(item) for item in items), key=repr)


def eventually(attempt, seconds=PATIENCE_SECONDS):
    """Asks again until the answer is true, for what the server does in its own time; returns that answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := attempt():
            return answer
    pytest.fail(f"did not come true within {seconds} seconds")
