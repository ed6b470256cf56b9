"""Postfix's smtp-sink: an SMTP server that refuses, hangs up or waits at the command it is told to, and keeps what it
accepts in files."""

import subprocess

from received_mail import ReceivedMail, address_in
from waiting import await_listener, eventually, free_port

# Where an attempt at sending can fail, as smtp-sink calls it.
STAGES = ["CONNECT", "EHLO", "MAIL", "RCPT", "DATA", "."]


class SmtpSink:
    def __init__(self, directory, *options, port=None):
        self.directory = directory
        directory.mkdir()
        directory.chmod(0o777)  # it runs as nobody
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        command = ["/usr/sbin/smtp-sink", "-u", "nobody", "-d", f"{directory}/mail.", *options, self.address, "64"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        await_listener(self.port)
        assert self.process.poll() is None, self.process.stderr.read()

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def received(self):
        """What has arrived whole: a file that is still written to does not end with an empty line."""
        files = sorted(self.directory.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        texts = [file.read_bytes() for file in files]
        return [_read_dump(text) for text in texts if text.endswith(b"\n\n")]

    def await_mail(self, count=1):
        return eventually(lambda: len(mail := self.received()) >= count and mail, f"{count} messages in the sink")


def _read_dump(text):
    """smtp-sink puts headers of its own before the message: what it was told, and a Received of three lines."""
    own, _, rest = text.partition(b"\nReceived: ")
    content = rest.split(b"\n", 3)[3]
    fields = [line.partition(": ") for line in own.decode().splitlines()]
    (sender,) = [address_in(value) for name, _, value in fields if name == "X-Mail-Args"]
    recipients = [address_in(value) for name, _, value in fields if name == "X-Rcpt-Args"]
    return ReceivedMail(sender, recipients, content[:-1])
