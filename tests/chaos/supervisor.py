"""Keeps a server running, as a supervisor does: starts it again when it has ended. And does to it what supervisors,
operators and machines do."""

import ctypes
import http.client
import signal
import subprocess
import threading
import time

from waiting import eventually, free_port

PR_SET_PDEATHSIG = 1
START_SECONDS = 120
GRACE_SECONDS = 2
END_SECONDS = 30  # for a server that was asked to end, on a busy machine
PAUSE_SECONDS = 0.2  # before the next attempt


def go_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Supervisor:
    host = "127.0.0.1"

    def __init__(self, binary, machine, timeline, log, flags, database_machine=None):
        self.machine, self.timeline, self.log = machine, timeline, log
        self.database_machine = database_machine
        self.port, self.rest_port = free_port(), free_port()
        self.endpoint = f"http://{self.host}:{self.port}"
        self.url = f"http://{self.host}:{self.rest_port}"
        self.command = [str(binary), "serve", "--data", str(machine.disk / "data")]
        self.command += ["--dynamodb", f"{self.host}:{self.port}"]
        self.command += ["--http", f"{self.host}:{self.rest_port}", "--shutdown-grace", str(GRACE_SECONDS)]
        self.command += [str(flag) for flag in flags]
        self.starts, self.lost_bytes = 0, 0
        self.failures_at_start = 0  # lasting ones of the disk
        self.by_itself = []  # (time, exit code, whether its disk has failed) of ends that the supervisor did not ask for
        self.slow_ends = []  # seconds
        self.process = None
        self._asked = False  # to end
        self._closing = False
        self._mutex = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._closing:
            failures = self.machine.failures()
            self._start()
            code = self.process.wait()
            # Who was only asked to end has had the time to write down what it knew.
            self.timeline.moment("graceful end" if self._asked and code == 0 else "process end")
            self.timeline.end_all("writes refused")
            if not self._asked:
                self.by_itself.append((time.monotonic(), code, self.machine.failures() > failures))
                threading.Event().wait(PAUSE_SECONDS)
            self.lost_bytes += self.machine.lose_unsynced()

    def _start(self):
        with self._mutex, open(self.log, "ab") as log:
            self._asked = False
            self.starts += 1
            self.failures_at_start = self.machine.lasting_failures()
            # A machine that starts gets the time from others before it starts its services. A server that starts cannot
            # know that the database's clock is wrong, unless it is very wrong.
            self.machine.move_clock(0)
            if self.database_machine:
                self.database_machine.move_clock(0)
            self.process = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self.machine.environment(),
                preexec_fn=go_with_parent,
            )

    def _send(self, number, asks_to_end):
        with self._mutex:
            if self.process is None or self.process.poll() is not None:
                return None
            self._asked = self._asked or asks_to_end
            self.process.send_signal(number)
            return self.process

    def kill(self):
        self._send(signal.SIGKILL, True)

    def pause(self):
        self._send(signal.SIGSTOP, False)

    def resume(self):
        self._send(signal.SIGCONT, False)

    def terminate(self):
        """Asks the server to end, and kills it if that takes too long."""
        if process := self._send(signal.SIGTERM, True):
            threading.Thread(target=self._await_end, args=(process, time.monotonic()), daemon=True).start()

    def _await_end(self, process, asked_at):
        """What stops or slows everything does not count against the server."""
        limit = lambda: self.timeline.extended(asked_at, asked_at + END_SECONDS, END_SECONDS, "stop", "slow disk")
        pause = threading.Event()
        while process.poll() is None:
            if time.monotonic() > limit():
                self.slow_ends.append(time.monotonic() - asked_at)
                process.kill()
                return
            pause.wait(0.05)

    def close(self):
        self._closing = True
        self.resume()
        self.terminate()
        self._thread.join(2 * END_SECONDS)
        self.kill()

    def readiness(self):
        """Status of /readyz, or None if no server answers."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def await_first_start(self):
        """One that does not start on a machine in order does not start at all."""

        def is_ready():
            assert not self.by_itself, self.last_lines()
            return self.readiness() == 200

        eventually(is_ready, "a server that is ready", START_SECONDS)

    def last_lines(self, count=30):
        return "".join(open(self.log, errors="replace").readlines()[-count:])
