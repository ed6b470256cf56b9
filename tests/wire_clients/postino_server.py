"""A Postino server of a test's own: started on a free port, awaited by its ready line, ended by a signal."""

import re
import signal
import subprocess
import threading
from collections import deque

ANNOUNCEMENT = re.compile(r"(DynamoDB|REST) API: (https?)://([0-9.]+):(\d+)")
PATIENCE_SECONDS = 120  # only a test that fails waits so long


class Server:
    """Serves DynamoDB's API alone. What serves more says so with flags, and which APIs it waits for."""

    own_flags = ("--no-outbox",)
    awaited_apis = {"DynamoDB"}
    log_lines = 200  # of the last ones

    def __init__(self, binary, data, *flags):
        self.log = deque(maxlen=self.log_lines)
        self.process = subprocess.Popen(
            [str(binary), *self.command(str(data)), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addresses = self._await_ready()
        self.scheme, self.host, self.port = self.addresses["DynamoDB"]
        self.endpoint = f"{self.scheme}://{self.host}:{self.port}"
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def command(self, data):
        return ["serve", "--data", data, "--dynamodb", "127.0.0.1:0", *self.own_flags]

    def _await_ready(self):
        watchdog = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        watchdog.start()
        addresses = {}
        try:
            for line in self.process.stdout:
                self.log.append(line)
                if match := ANNOUNCEMENT.search(line):
                    addresses[match[1]] = match[2], match[3], int(match[4])
                    if self.awaited_apis <= addresses.keys():
                        return addresses
        finally:
            watchdog.cancel()
        self.process.wait()
        raise RuntimeError(f"the server did not get ready:\n{''.join(self.log)}")

    def _drain(self):
        for line in self.process.stdout:
            self.log.append(line)

    def whole_log(self):
        """Everything it has said, once it has ended."""
        self._reader.join(PATIENCE_SECONDS)
        return "".join(self.log)

    def stop(self):
        """Asks the server to end, and returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def kill(self):
        """Ends the server as a crash would: it gets no chance to write anything more."""
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        ended_before = self.process.poll()
        code = self.stop()
        if kind is None:
            assert ended_before is None, f"the server ended by itself with {ended_before}:\n{''.join(self.log)}"
            assert code == 0, f"the server ended with {code}:\n{''.join(self.log)}"
