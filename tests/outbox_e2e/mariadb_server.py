"""A real MariaDB for tests: a process with a directory and a socket of its own. Commits are synced."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from waiting import eventually

PATIENCE_SECONDS = 120


def in_memory():
    """Where there is such a place: a server that is started again syncs a lot."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class MariadbServer:
    def __init__(self, *arguments, environment=None):
        self.environment = environment  # of the process; None: ours
        self.directory = Path(tempfile.mkdtemp(prefix="postino-mariadb-", dir=in_memory()))
        self.socket = self.directory / "socket"
        self.log = self.directory / "log"
        self.arguments = arguments
        self.process = None
        self.databases = 0
        own = ["--user=root"] if os.geteuid() == 0 else []
        # A server that starts removes temporary tables of others in a place that they share.
        own += [f"--tmpdir={self.directory}"]
        self._own = ["--no-defaults", f"--datadir={self.directory}/data", "--skip-name-resolve", *own]
        install = ["mariadb-install-db", *self._own, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([*install, "--innodb-log-file-size=8M"], check=True, capture_output=True)
        self.start()

    def start(self):
        """Returns when it answers."""
        command = ["mariadbd", *self._own, f"--socket={self.socket}", f"--pid-file={self.directory}/pid"]
        command += ["--skip-networking", "--character-set-server=utf8mb4"]
        command += ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=64M"]
        # What a killed server has handed to io_uring could reach a file after the next one has begun.
        command += ["--innodb-use-native-aio=0"]
        command += ["--performance-schema=OFF", "--max-allowed-packet=96M", *self.arguments]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment)
        eventually(self._answers, "MariaDB", PATIENCE_SECONDS)

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text()
        return self._client("SELECT 1").returncode == 0

    def kill(self):
        """Ends it as a crash would."""
        self.process.kill()
        self.process.wait()

    def freeze(self):
        """It takes connections, as the system does that for it, and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def remove(self):
        self.kill()
        shutil.rmtree(self.directory)

    def new_database(self):
        self.databases += 1
        name = f"outbox_{self.databases}"
        self.query(f"CREATE DATABASE {name}")
        return name

    def flags(self, database):
        """What Postino is to be told."""
        return ["--mysql-socket", str(self.socket), "--mysql-user", "root", "--mysql-database", database]

    def query(self, sql, database=None):
        """The rows, as lists of texts."""
        done = self._client(sql, database)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def _client(self, sql, database=None):
        return subprocess.run(self._client_command(database), input=sql, capture_output=True, text=True)

    def _client_command(self, database=None):
        command = ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "--batch", "--skip-column-names"]
        return [*command, "--default-character-set=utf8mb4", *([database] if database else [])]

    def lock_rows(self, table, count, order, database):
        """A client that locks some rows, and holds them until it is killed. None if the database does not answer."""
        found = self._client(f"SELECT QUOTE(id) FROM {table} ORDER BY {order} LIMIT {count}", database)
        if found.returncode != 0 or not found.stdout:
            return None
        ids = ", ".join(found.stdout.split())
        client = subprocess.Popen(
            [*self._client_command(database), "--unbuffered"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # By the key, so that nothing beside these rows is locked.
        client.stdin.write(
            "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN;\n"
            f"SELECT id FROM {table} WHERE id IN ({ids}) FOR UPDATE;\n"
        )
        client.stdin.flush()
        return client
