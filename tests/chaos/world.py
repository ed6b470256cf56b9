"""Everything that stands around the server in a run: the machine, the services that it uses, those who use it, and the
faults that can be done to all of them."""

import base64
import collections
import contextlib
import itertools
import threading
import time

from callback_server import CallbackServer
from email_load import EmailLoad
from machine import COUNTS, Machine
from mariadb_server import MariadbServer
from message_load import QUEUE, MessageLoad
from message_promises import MessagePromises
from planned_smtp import PlannedSmtp
from rabbitmq_server import RabbitmqServer
from reminder_load import ReminderLoad
from supervisor import Supervisor
from table_load import TableLoad
from tcp_proxy import TcpProxy
from ticket_load import TicketLoad
from timeline import Timeline

LEASE_SECONDS = 3
LONGEST_REPLY_SECONDS = 0.08
FLAGS = ["--lease", f"{LEASE_SECONDS}s", "--retry-first", "100ms", "--retry-longest", "400ms"]
FLAGS += ["--max-attempts", "10000", "--max-rescues", "10000"]
FLAGS += ["--callback-retry-first", "100ms", "--callback-attempts", "1000", "--callback-allow-private"]
FLAGS += ["--callback-timeout", "2s", "--smtp-timeout", "2s", "--smtp-tls", "off"]
FLAGS += ["--tickets-from", "Help <help@shop.example>"]
FLAGS += ["--messages-lease", f"{LEASE_SECONDS}s", "--queue-lease", f"{LEASE_SECONDS}s"]
CUT_COMMIT = "a COMMIT that was cut"
DATABASE_GONE = ("database cut", CUT_COMMIT, "database stall", "database away", "database kill", "database only reads")
CANNOT_START = ("full disk", *DATABASE_GONE, "database rows locked")
EXCUSED_SECONDS = 5


class World:
    """`options` are those of chaos.py."""

    def __init__(self, folder, options, verdict):
        self.timeline = Timeline()
        self.holds_unknown = options.unknown_outcome == "hold"
        self.secret = "whsec_" + base64.b64encode(b"known to both of us, not to others").decode()
        self._open = contextlib.ExitStack()
        self._proxies = []
        self.machines = [Machine(options.library, folder / f"machine-{number}") for number in range(options.servers)]
        self.machine = self.machines[0]  # the one whose disk fails
        self.smtp = PlannedSmtp(options.seed, LONGEST_REPLY_SECONDS)
        self._open.callback(self.smtp.close)
        self.smtp_proxy = self._proxy(self.smtp.port, b"\r\n.\r\n")
        self.smtp.cable_of = self.smtp_proxy.cable_of
        self.callbacks = self._open.enter_context(CallbackServer())
        self.callback_proxy = self._proxy(self.callbacks.server_address[1])
        attachments = folder / "attachments"
        attachments.mkdir()
        flags = [*FLAGS, "--smtp", f"127.0.0.1:{self.smtp_proxy.port}", "--attachments", attachments]
        flags += ["--callback-secret", self.secret, "--unknown-outcome", options.unknown_outcome]
        if options.spool:
            flags += ["--spool", self.machine.disk / "spool"]
        self.hands_over = options.ledger == "mysql"  # what reminders and tickets send, after their commit
        self.database, self.database_machine = None, None
        if options.ledger == "mysql":
            self.database_machine = Machine(options.library, folder / "machine-of-database")
            self.database = MariadbServer(environment=self.database_machine.environment())
            self._open.callback(self.database.remove)
            self._strangers = []  # that lock rows
            self._open.callback(self._unlock_rows)
            self._database_name = self.database.new_database()
            # One who may do everything may also write to a database that only reads.
            self.database.query("CREATE USER plain@localhost")
            self.database.query(f"GRANT ALL ON {self._database_name}.* TO plain@localhost")
            self.database_proxy = self._proxy(self.database.socket, b"COMMIT")
            # That may be long after the plan has asked for it: also when a server is started the next time.
            self.database_proxy.on_trigger = lambda: self.timeline.moment(CUT_COMMIT)
            flags += ["--ledger", "mysql", "--mysql-host", "127.0.0.1", "--mysql-port", self.database_proxy.port]
            flags += ["--mysql-user", "plain", "--mysql-tls", "off", "--mysql-database", self._database_name]
            flags += ["--mysql-statement-timeout", "2s"]
            if options.servers > 1:
                flags += ["--several-servers"]
        self.broker = None
        if options.broker == "rabbitmq":
            self.broker = RabbitmqServer()
            self._open.callback(self.broker.remove)
            self.broker.declare(QUEUE)
            self.broker_proxy = self._proxy(self.broker.port)
            user = f"{self.broker.user}:{self.broker.password}"
            flags += ["--connection", f"main=amqp://{user}@127.0.0.1:{self.broker_proxy.port}"]
            flags += ["--default-connection", "main"]
        self.servers = []
        for number, machine in enumerate(self.machines):
            # Reminders are in the store of one server, so that only one has them.
            reminders = ["--no-reminders"] if number > 0 else ["--reminders-from", "Billing <billing@shop.example>"]
            server = Supervisor(
                options.binary, machine, self.timeline, folder / f"log-{number}", [*flags, *reminders], self.database_machine
            )
            self._open.callback(server.close)
            server.await_first_start()
            self.servers.append(server)
        self.server = self.servers[0]
        self._turns = itertools.cycle(range(len(self.servers)))
        self.emails = EmailLoad(self.servers, options.seed, f"http://127.0.0.1:{self.callback_proxy.port}/hook")
        self.tables = TableLoad(self.server, options.seed, verdict)
        self.messages = MessageLoad(self.server, options.seed, "PT1S" if self.broker else "PT0S")
        self.reminders = ReminderLoad(self.server, options.seed)
        self.tickets = TicketLoad(self.server, options.seed)
        self.loads = [self.emails, self.tables, self.messages]
        if options.services:
            self.loads += [self.reminders, self.tickets]

    def submitted(self):
        """E-mails that were handed in, and those that shall come of reminders and tickets."""
        reminders = [customer.email for customer in self.reminders.customers]
        return [*self.emails.submitted, *reminders, *self.tickets.letters()]

    def _proxy(self, service, trigger=b""):
        proxy = TcpProxy(service, trigger)
        self._proxies.append(proxy)
        self._open.callback(proxy.close)
        return proxy

    def close(self):
        self._open.close()

    def start_load(self):
        for load in self.loads:
            load.start()

    def finish_load(self, seconds):
        """Returns when all clients have their last answer."""
        for load in self.loads:
            load.finish(seconds)
        self.messages.drain(seconds)

    def check(self, verdict):
        """What is left to say about the server itself."""
        for failure in [failure for load in self.loads for failure in load.failures]:
            verdict.check("every request gets a sensible answer", False, failure)
        for moment in self.broker.own_break_times() if self.broker else []:
            self.timeline.note("broker broke off", self.timeline.of_calendar(moment))
        uses_broker = self.broker is not None
        MessagePromises(self.timeline, self.messages, verdict, LEASE_SECONDS, uses_broker).check_all()
        for seconds in [seconds for server in self.servers for seconds in server.slow_ends]:
            verdict.check("a server that is asked to end does so", False, f"not within {seconds:.0f} s")
        for at, code, disk_failed in [end for server in self.servers for end in server.by_itself]:
            # A server does not start without its database or on a full disk, and may end when its disk fails.
            excused = disk_failed or self.timeline.overlapping(at - EXCUSED_SECONDS, at, *CANNOT_START)
            seen = f"exit code {code} at {at - self.timeline.began:.2f}: {self.timeline.show(at - 5, at)}"
            verdict.check("the server does not end by itself", bool(excused), seen)

    def show(self, operator):
        known = collections.Counter(email.known for email in self.emails.submitted)
        print(f"  e-mails: {dict(known)}, {self.emails.refusals} refusals, {len(self.smtp.copies)} copies arrived, "
              f"{len(self.callbacks.calls)} callbacks")
        transfers = collections.Counter(transfer.known for transfer in self.tables.transfers)
        print(f"  tables: {self.tables.writes} writes, transfers: {dict(transfers)}")
        print(f"  messages: {len(self.messages.produced)} produced, "
              f"{sum(len(call.bodies) for call in self.messages.consumed)} consumed")
        approved = sum(customer.email.known == "accepted" for customer in self.reminders.customers)
        print(f"  reminders: {len(self.reminders.customers)} customers, {approved} approved, "
              f"{sum(customer.stop is not None for customer in self.reminders.customers)} stopped; "
              f"tickets: {len(self.tickets.tickets)}, {sum(ticket.moves for ticket in self.tickets.tickets)} moves, "
              f"{sum(len(ticket.files) for ticket in self.tickets.tickets)} files")
        ends = [code for server in self.servers for _, code, _ in server.by_itself]
        starts = sum(server.starts for server in self.servers)
        print(f"  {len(self.servers)} servers: {starts} starts, ends by themselves: {ends}, "
              f"{operator.restarts} restarts by the operator, {self.server.lost_bytes} bytes lost by failed syncs")
        print(f"  happened: {self.timeline.counts()}")
        print("  machine: " + ", ".join(f"{self.machine.get(name)} {name}" for name in COUNTS))

    # Each fault is a pair: how it begins, given its size, and how it ends.

    def faults(self):
        machine, smtp, callback = self.machine, self.smtp_proxy, self.callback_proxy

        def nothing():
            pass

        every = {
            "kill": (lambda size: self._next_server().kill(), nothing),
            "terminate": (lambda size: self._next_server().terminate(), nothing),
            "stop": (lambda size: self._next_server().pause(), self._resume_all),
            "full disk": (lambda size: machine.fill_disk(int(size)), lambda: machine.set(limits_space=0)),
            "slow disk": (lambda size: machine.slow_disk(int(size)), lambda: machine.slow_disk(0)),
            "failed write": (lambda size: machine.set(writes_to_fail=1), nothing),
            "failed sync": (lambda size: machine.set(syncs_to_fail=1), nothing),
            "clock ahead": (lambda size: self._next_server().machine.move_clock(size), self._set_clocks),
            "clock back": (lambda size: self._next_server().machine.move_clock(-size), self._set_clocks),
            "smtp cut": (lambda size: smtp.cut(), nothing),
            "smtp cut after the dot": (lambda size: smtp.cut_after_trigger(int(size)), nothing),
            "smtp stall": (lambda size: smtp.stall(), smtp.restore),
            "smtp away": (lambda size: smtp.refuse(), smtp.restore),
            "callback cut": (lambda size: callback.cut(), nothing),
            "callback errors": (lambda size: self.callbacks.script.extend([(500, {})] * int(size)), nothing),
            "callback stall": (lambda size: callback.stall(), callback.restore),
        }
        if self.database:
            proxy = self.database_proxy
            every |= {
                "database cut": (lambda size: proxy.cut(), nothing),
                "database cut after COMMIT": (lambda size: proxy.cut_after_trigger(int(size)), nothing),
                "database stall": (lambda size: proxy.stall(), proxy.restore),
                "database away": (lambda size: proxy.refuse(), proxy.restore),
                "database kill": (lambda size: self.database.kill(), self.database.start),
                "database only reads": (lambda size: self._only_read(1), lambda: self._only_read(0)),
                "database rows locked": (lambda size: self._lock_rows(int(size)), self._unlock_rows),
                "database clock ahead": (self.database_machine.move_clock, self._set_database_clock),
                "database clock back": (lambda size: self.database_machine.move_clock(-size), self._set_database_clock),
            }
        if self.broker:
            wire = self.broker_proxy
            every |= {
                "broker cut": (lambda size: wire.cut(), nothing),
                "broker stall": (lambda size: wire.stall(), wire.restore),
                "broker away": (lambda size: wire.refuse(), wire.restore),
            }
        return every

    def _next_server(self):
        return self.servers[next(self._turns)]

    def _resume_all(self):
        for server in self.servers:
            server.resume()

    def _only_read(self, value):
        self.database.query(f"SET GLOBAL read_only = {value}")

    def _lock_rows(self, count):
        """Those of e-mails that are being sent, if there are any."""
        order = "status = 'PROCESSING' DESC, RAND()"
        if stranger := self.database.lock_rows("emails", count, order, self._database_name):
            self._strangers.append(stranger)

    def _unlock_rows(self):
        for stranger in self._strangers:
            stranger.kill()
            stranger.communicate()
        self._strangers.clear()

    def _set_database_clock(self):
        self.database_machine.move_clock(0)

    def _set_clocks(self):
        for machine in self.machines:
            machine.move_clock(0)

    def end_faults(self):
        """Everything works again, whatever the plan has left behind."""
        self.machine.mend_disk()
        self._set_clocks()
        self._resume_all()
        if self.database:
            self._set_database_clock()
            self._unlock_rows()
            self._only_read(0)
        for proxy in self._proxies:
            proxy.restore()
        self.callbacks.script.clear()

    def run_plan(self, steps):
        """Does what the plan says, each thing at its time."""
        faults = self.faults()
        moves = [(step.at, 0, number, step) for number, step in enumerate(steps)]
        moves += [(step.at + step.seconds, 1, number, step) for number, step in enumerate(steps) if step.seconds]
        lasting = {}
        pause = threading.Event()
        began = time.monotonic()
        for at, is_end, number, step in sorted(moves, key=lambda move: move[:3]):
            pause.wait(max(0, began + at - time.monotonic()))
            begin, end = faults[step.fault]
            if is_end:
                end()
                self.timeline.end(lasting.pop(number))
            else:
                fault = self.timeline.begin(step.fault)
                begin(step.size)
                if step.seconds:
                    lasting[number] = fault
                else:
                    self.timeline.end(fault)
