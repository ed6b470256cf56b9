"""A Postino server with its outbox, on free ports."""

import urllib.error
import urllib.request

from postino_server import Server
from rest import Rest
from waiting import PATIENCE_SECONDS, eventually


class OutboxServer(Server):
    own_flags = ()
    awaited_apis = {"DynamoDB", "REST"}
    log_lines = None  # all of them: some tests look for what must not be there
    ended_on_purpose = False

    def __init__(self, binary, data, *flags):
        flags = [str(flag) for flag in flags]
        if "--http" not in flags:
            flags += ["--http", "127.0.0.1:0"]
        super().__init__(binary, data, *flags)
        scheme, host, port = self.addresses["REST"]
        self.url = f"{scheme}://{host}:{port}"

    def rest(self, key=None, ca=None, **more):
        return Rest(self.url, key, ca, **more)

    def readiness(self):
        """Status and text of what it says to load balancers."""
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=PATIENCE_SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def ask_to_end(self):
        self.ended_on_purpose = True
        self.process.terminate()
        eventually(lambda: any("ending" in line for line in self.log), "the beginning of the end")

    def await_end(self):
        """Its exit code. To ask a second time would be to insist."""
        return self.process.wait(PATIENCE_SECONDS)

    def stop(self):
        self.ended_on_purpose = True
        return super().stop()

    def kill(self):
        self.ended_on_purpose = True
        super().kill()
