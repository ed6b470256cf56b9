"""E-mails as callers hand them in."""

from datetime import datetime, timedelta, timezone

SENDER = "billing@shop.example"
RECIPIENT = "ada@customer.example"


def payload(**fields):
    """A plain one, with fields replaced, added, or (None) left out."""
    plain = {"from": SENDER, "to": RECIPIENT, "subject": "Your invoice", "body_text": "It is attached.\n"}
    return {name: value for name, value in {**plain, **fields}.items() if value is not None}


def elsewhere(number):
    """A recipient of one of several domains: together they get all connections to the mail server."""
    return f"ada@customer{number % 4}.example"


def in_the_future(**time):
    """For send_at: an e-mail that stays READY, as far as a test is concerned."""
    return (datetime.now(timezone.utc) + timedelta(**time or {"days": 30})).isoformat(timespec="milliseconds")
