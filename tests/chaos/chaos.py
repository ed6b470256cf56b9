"""Runs a server on a machine that misbehaves, under a load whose contents are known, and checks afterwards what was
promised. Prints what it did: seed, time, faults, promises checked and broken.

    tests/chaos/run promises path/to/postino path/to/libmisbehaving_machine.so [option...]
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent / name) for name in ("outbox_e2e", "wire_clients", "messages_e2e")]

from email_promises import EmailPromises  # noqa: E402
from machine import COUNTS  # noqa: E402
from machine_operator import MachineOperator  # noqa: E402
from plan import FAULTS, draw_place, make_plan  # noqa: E402
from reminder_promises import ReminderPromises  # noqa: E402
from table_promises import TablePromises  # noqa: E402
from ticket_promises import TicketPromises  # noqa: E402
from verdict import Verdict  # noqa: E402
from world import World  # noqa: E402

SETTLING_SECONDS = 120


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--seconds", type=float, default=40, help="of faults")
    parser.add_argument("--ledger", choices=["store", "mysql"], default="store")
    parser.add_argument("--servers", type=int, help="more than one needs --ledger mysql; otherwise the seed decides")
    parser.add_argument("--broker", choices=["store", "rabbitmq"], default="store")
    parser.add_argument(
        "--spool", action=argparse.BooleanOptionalAction, help="keep payloads and messages in files; otherwise as drawn"
    )
    parser.add_argument("--services", action="store_true", help="with reminders and tickets")
    parser.add_argument("--unknown-outcome", choices=["resend", "hold"], help="otherwise the seed decides")
    parser.add_argument("--without", action="append", default=[], metavar="FAULT", help="leave a fault out")
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="leave all others out")
    parser.add_argument("--meets", action="append", default=[], choices=COUNTS, help="fail if it did not")
    parser.add_argument("--keep", action="store_true", help="keep the data and the log of the server")
    options = parser.parse_args(arguments)
    for name, drawn in zip(("spool", "unknown_outcome", "servers"), draw_place(options.seed, options.ledger)):
        if getattr(options, name) is None:
            setattr(options, name, drawn)
    return options


def chosen_faults(options):
    chosen = [name for name in FAULTS if not options.only or name in options.only]
    for name in [*options.only, *options.without]:
        assert name in FAULTS, f"no fault '{name}': {', '.join(FAULTS)}"
    absent = [] if options.ledger == "mysql" else ["database"]
    absent += [] if options.broker == "rabbitmq" else ["broker"]
    return [name for name in chosen if name not in options.without and name.split(" ")[0] not in absent]


def run(options, folder, verdict):
    steps = make_plan(options.seed, options.seconds, chosen_faults(options))
    world = World(folder, options, verdict)
    try:
        operator = MachineOperator(world, verdict)
        operator.start()
        world.start_load()
        world.run_plan(steps)
        world.end_faults()
        world.finish_load(SETTLING_SECONDS)
        emails = EmailPromises(world, verdict)
        unsettled = emails.await_settled(SETTLING_SECONDS)
        operator.finish()
        emails.check_all(unsettled)
        asks_before_sending = options.servers == 1
        if options.services:
            reminders = ReminderPromises(world.reminders, verdict, emails.copies(), asks_before_sending, world.hands_over)
            reminders.check_all(emails.listed(), SETTLING_SECONDS)
            TicketPromises(world.tickets, verdict).check_all(SETTLING_SECONDS)
        tables = TablePromises(world.server, world.tables, verdict)
        tables.check_all()
        if options.ledger == "store":
            tables.check_outbox(emails.listed())
        world.check(verdict)
        for name in options.meets:
            verdict.check("the plan does what it was chosen for", world.machine.get(name) > 0, f"no {name}")
        world.show(operator)
    except BaseException:
        for server in world.servers:
            print(server.last_lines())
        raise
    finally:
        world.close()
    return world


def main(arguments):
    options = parse(arguments)
    folder = Path(tempfile.mkdtemp(prefix="postino-chaos-"))
    began = time.monotonic()
    place = f"servers={options.servers} ledger={options.ledger} broker={options.broker} "
    place += "spool " if options.spool else ""
    print(f"CHAOS_SEED={options.seed} {place}unknown-outcome={options.unknown_outcome}", flush=True)
    verdict = Verdict()
    try:
        world = run(options, folder, verdict)
        verdict.show()
        faults = {name: count for name, count in world.timeline.counts().items() if name in FAULTS}
        print(
            f"{(time.monotonic() - began) / 60:.1f} minutes, {sum(faults.values())} faults, "
            f"{sum(verdict.checked.values())} promises checked, {len(verdict.broken)} broken"
        )
    finally:
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
