"""A message that arrived somewhere, and the envelope it came in."""

import email
import email.policy
import re


class ReceivedMail:
    def __init__(self, sender, recipients, content):
        self.sender = sender
        self.recipients = recipients
        self.content = content  # the bytes
        self.message = email.message_from_bytes(content, policy=email.policy.default)

    @property
    def id(self):
        """Of the e-mail, which its Message-ID is made from."""
        match = re.fullmatch(r"<([0-9a-f-]{36})@[^<>@\s]+>", self.message["Message-ID"])
        assert match, self.message["Message-ID"]
        return match[1]

    def part(self, content_type):
        """The one part of this type, however deep it is."""
        (found,) = [part for part in self.message.walk() if part.get_content_type() == content_type]
        return found

    def text(self, content_type="text/plain"):
        return self.part(content_type).get_content()


def address_in(arguments):
    """MAIL FROM:<a@b> SIZE=1, or RCPT TO:<a@b> NOTIFY=FAILURE"""
    match = re.search(r"<([^>]*)>", arguments)
    assert match, arguments
    return match[1]


def structure(part):
    """The tree of content types: a name, or a name with its parts."""
    if part.is_multipart():
        return part.get_content_type(), [structure(each) for each in part.iter_parts()]
    return part.get_content_type()
