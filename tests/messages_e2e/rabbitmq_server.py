"""A real RabbitMQ for tests, from Debian's package: on free ports of the loopback interface, with everything it writes
in a directory of its own. It goes with the process that started it."""

import base64
import ctypes
import json
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

from waiting import eventually, free_port

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CONTROL = "/usr/lib/rabbitmq/bin/rabbitmqctl"
NAME_SERVER = "/usr/bin/epmd"
PATIENCE_SECONDS = 240  # others may want the processor too
PR_SET_PDEATHSIG = 1


def go_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class RabbitmqServer:
    user, password = "guest", "guest"
    running = None

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="postino-rabbitmq-"))
        names, distribution, self.port, self.management_port = (free_port() for _ in range(4))
        home = str(self.directory)
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8",
            "HOME": home,  # for the cookie
            "ERL_EPMD_PORT": str(names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "postino-e2e@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": home + "/data",
            "RABBITMQ_LOG_BASE": home + "/log",
            "RABBITMQ_CONFIG_FILE": home + "/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": home + "/advanced.config",
            "RABBITMQ_CONF_ENV_FILE": home + "/environment",
            "RABBITMQ_ENABLED_PLUGINS_FILE": home + "/plugins",
            "RABBITMQ_ALLOW_INPUT": "1",  # its script would otherwise stay between us and it
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput -kernel inet_dist_use_interface {127,0,0,1}",
        }
        (self.directory / "plugins").write_text("[rabbitmq_amqp1_0,rabbitmq_management].\n")
        (self.directory / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self.management_port}\n"
            "disk_free_limit.absolute = 1MB\nlog.console = false\n"
        )
        self.name_server = self._run(NAME_SERVER, "-port", str(names), "-address", "127.0.0.1")
        self.process = None
        self.start()
        RabbitmqServer.running = self

    def _run(self, *command):
        with open(self.directory / "output", "ab") as output:
            return subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=go_with_parent,
            )

    def start(self):
        """Returns when it serves."""
        self.process = self._run(PROGRAM)
        for port in (self.port, self.management_port):  # opened one after the other, in the end
            eventually(lambda port=port: self._listens(port), "RabbitMQ", PATIENCE_SECONDS)

    def _listens(self, port):
        assert self.process.poll() is None, self.log()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def stop(self):
        """As an operator does."""
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)

    def write_down(self):
        """What it knows of queues is on the disk then. It does that at its leisure, and a kill would come first."""
        control = self._run(CONTROL, "--node", self.environment["RABBITMQ_NODENAME"], "eval", "mnesia:sync_log().")
        assert control.wait(PATIENCE_SECONDS) == 0, self.log()

    def kill(self):
        """As a power failure does."""
        self.process.kill()
        self.process.wait()

    def remove(self):
        RabbitmqServer.running = None
        for process in (self.process, self.name_server):
            process.kill()
            process.wait()
        shutil.rmtree(self.directory)

    def log(self):
        return "\n".join(text[-8000:] for text in self._log_texts())

    def _log_texts(self):
        files = [self.directory / "output", *sorted((self.directory / "log").glob("*.log"))]
        return [file.read_text(errors="replace") for file in files if file.exists()]

    @classmethod
    def breaks_of_its_own(cls):
        """How often the one that is running has broken a connection off because of a fault of its own."""
        texts = cls.running._log_texts() if cls.running else []
        return sum(text.count("closing: internal error in channel") for text in texts)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def url(self):
        return f"amqp://{self.user}:{self.password}@{self.address}"

    def manage(self, method, path, body=None):
        """What its management API answers, as JSON."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.management_port}/api{path}", method=method)
        identity = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        request.add_header("Authorization", f"Basic {identity}")
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(request, data, PATIENCE_SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def declare(self, queue):
        """A durable one."""
        self.manage("PUT", f"/queues/%2F/{quote(queue, safe='')}", {"durable": True})

    def take_all(self, queue):
        """Everything that is in a queue, as the broker sees it, which is empty afterwards."""
        taken = []
        request = {"count": 10_000, "ackmode": "ack_requeue_false", "encoding": "auto", "truncate": 50_000}
        while found := self.manage("POST", f"/queues/%2F/{quote(queue, safe='')}/get", request):
            taken += found
        return taken

    def ids_in(self, queue):
        return [message["properties"].get("message_id") for message in self.take_all(queue)]
