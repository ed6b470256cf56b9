"""A real RabbitMQ for tests, from Debian's package: on free ports of the loopback interface, with everything it writes
in a directory of its own. It goes with the process that started it."""

import base64
import ctypes
import json
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
import uuid
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.parse import quote

from waiting import eventually, free_port

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CONTROL = "/usr/lib/rabbitmq/bin/rabbitmqctl"
NAME_SERVER = "/usr/bin/epmd"
PATIENCE_SECONDS = 240  # others may want the processor too
PR_SET_PDEATHSIG = 1


# The line in the log when the known fault of version 3.10 strikes: count_own_breaks in tests/broker/rabbitmq_server.h
# says what happens then, and why no other reason counts.
OWN_BREAK = re.compile(r"closing: internal error in channel \(<[0-9.]+>\): noproc\s*$", re.MULTILINE)


MOMENT = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d ", re.MULTILINE)


def count_own_breaks(log):
    return len(OWN_BREAK.findall(log))


def own_break_times(log):
    """When they were: the moment stands at the beginning of the line."""
    lines = [log[log.rfind("\n", 0, each.start()) + 1 : each.end()] for each in OWN_BREAK.finditer(log)]
    return [datetime.fromisoformat(MOMENT.match(line).group().strip()) for line in lines]


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
            return self._run_into(output, command)

    def _run_into(self, output, command):
        return subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=go_with_parent,
        )

    def start(self):
        """Returns when it serves."""
        self.process = self._run_into(subprocess.PIPE, [PROGRAM])
        news = SimpleQueue()
        threading.Thread(target=self._copy_output, args=(self.process.stdout, news), daemon=True).start()
        try:
            has_started = news.get(timeout=PATIENCE_SECONDS)
        except Empty:
            has_started = False
        assert has_started, self.log()

    def _copy_output(self, output, news):
        """Copies what the server says to a file. Tells whether it has started: it says so when it listens."""
        with open(self.directory / "output", "ab", buffering=0) as copy, output:
            for line in output:
                copy.write(line)
                if b"completed with" in line:
                    news.put(True)
        news.put(False)

    def stop(self):
        """As an operator does."""
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)

    def write_down(self):
        """What it knows of queues is on the disk then. It does that at its leisure, and a kill would come first."""
        assert self._evaluate("mnesia:sync_log().") == 0, self.log()

    def _evaluate(self, expression):
        control = self._run(CONTROL, "--node", self.environment["RABBITMQ_NODENAME"], "eval", expression)
        return control.wait(PATIENCE_SECONDS)

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
        """What its programs have said, and then its log."""
        files = [self.directory / "output", *sorted((self.directory / "log").glob("*.log"))]
        return [file.read_text(errors="replace") for file in files]

    @classmethod
    def own_breaks(cls):
        """How often the one that is running has broken a connection off because of its known fault."""
        return sum(map(count_own_breaks, cls.running._log_texts())) if cls.running else 0

    @classmethod
    def complaints(cls):
        """The last warnings and errors in the log of the one that is running."""
        lines = [line for text in (cls.running._log_texts()[1:] if cls.running else []) for line in text.splitlines()]
        return "\n".join([line for line in lines if "[warning]" in line or "[error]" in line][-40:])

    def own_break_times(self):
        return [moment for text in self._log_texts()[1:] for moment in own_break_times(text)]

    @classmethod
    def await_log(cls):
        """The log lags behind what the server does. Returns when everything is in it that has happened so far."""
        if cls.running is None or cls.running.process.poll() is not None:
            return
        marker = f"Postino's tests have come to marker {uuid.uuid4()}"
        if cls.running._evaluate(f'rabbit_log:warning("{marker}").') == 0:
            # Not in the output: the control program shows the line, too.
            eventually(lambda: any(marker in text for text in cls.running._log_texts()[1:]), "a line in RabbitMQ's log")

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
