"""Which fault comes when, by seed: the same seed makes the same plan."""

import collections
import random
from dataclasses import dataclass

DAY = 86_400


@dataclass
class Step:
    at: float  # seconds after the beginning
    fault: str
    seconds: float  # how long it lasts; 0 for a moment
    size: float  # what it means depends on the fault


def _span(first, last):
    return lambda chance: chance.uniform(first, last)


def _one_of(*values):
    return lambda chance: chance.choice(values)


def _clock_step(chance):
    """Seconds: from what a careless operator does to what a dead battery does."""
    return chance.choice([1, 5, 90, 3_600, 2 * DAY, 40 * DAY]) * chance.uniform(0.5, 1)


def _clock_length(chance):
    """Seconds until it is set right: most errors are noticed at once, some after several leases."""
    return chance.uniform(0.5, 8) if chance.random() < 0.7 else chance.uniform(8, 25)


# By name: how often in relation to the others, how long, and how much.
FAULTS = {
    "kill": (4, _one_of(0), _one_of(0)),
    "terminate": (2, _one_of(0), _one_of(0)),
    "stop": (2, _span(0.5, 6), _one_of(0)),  # also longer than a lease
    "full disk": (2, _span(0.5, 9), _one_of(0, 100_000, 20 << 20)),  # bytes that are left
    "slow disk": (2, _span(1, 4), _one_of(2, 10, 40)),  # milliseconds
    "failed write": (2, _one_of(0), _one_of(1)),
    "failed sync": (2, _one_of(0), _one_of(1)),
    "clock ahead": (2, _clock_length, _clock_step),  # of one server's machine
    "clock back": (2, _clock_length, _clock_step),
    "smtp cut": (3, _one_of(0), _one_of(0)),
    "smtp cut after the dot": (3, _one_of(0), _one_of(1, 3, 10)),  # connections
    "smtp stall": (1, _span(0.5, 5), _one_of(0)),
    "smtp away": (1, _span(0.5, 3), _one_of(0)),
    "callback cut": (2, _one_of(0), _one_of(0)),
    "callback errors": (2, _one_of(0), _one_of(1, 5, 20)),  # answers
    "callback stall": (1, _span(0.5, 3), _one_of(0)),
    "database cut": (3, _one_of(0), _one_of(0)),
    "database cut after COMMIT": (3, _one_of(0), _one_of(1, 3, 10)),
    "database stall": (1, _span(0.5, 5), _one_of(0)),
    "database away": (1, _span(0.5, 3), _one_of(0)),
    "database kill": (1, _span(0.5, 3), _one_of(0)),
    "database only reads": (2, _span(0.5, 8), _one_of(0)),
    "database rows locked": (2, _span(1, 12), _one_of(1, 5)),  # by a stranger, also for longer than a lease
    "database clock ahead": (1, _clock_length, _clock_step),
    "database clock back": (1, _clock_length, _clock_step),
    "broker cut": (2, _one_of(0), _one_of(0)),
    "broker stall": (1, _span(0.5, 5), _one_of(0)),
    "broker away": (1, _span(0.5, 3), _one_of(0)),
}


def part_of(fault):
    """What it breaks. One thing at a time breaks in one way."""
    words = fault.split(" ")
    if words[0] == "database" and words[1] in ("clock", "rows"):
        return " ".join(words[:2])
    return words[-1] if words[-1] == "disk" else words[0]


def draw_place(seed, ledger):
    """What the settings of the servers are, where nothing else is asked for: spool, unknown outcome, servers."""
    chance = random.Random(f"place {seed}")
    spool, hold = chance.random() < 0.5, chance.random() < 0.5
    return spool, "hold" if hold else "resend", chance.choice([1, 2, 3]) if ledger == "mysql" else 1


def make_plan(seed, seconds, faults):
    """Steps in the order of their time, some seconds apart, so that several last at the same time now and then. Every
    fault comes at least once if there is time."""
    chance = random.Random(seed)
    first = list(faults)
    chance.shuffle(first)
    steps, at = [], chance.uniform(0.5, 1.5)
    busy_until = collections.defaultdict(float)
    while at < seconds:
        name = first.pop() if first else chance.choices(faults, [FAULTS[each][0] for each in faults])[0]
        part = part_of(name)
        if busy_until[part] <= at:
            _, length, size = FAULTS[name]
            steps.append(Step(at, name, length(chance), size(chance)))
            busy_until[part] = at + steps[-1].seconds
        else:
            first.insert(0, name)
        at += chance.uniform(0.3, 3)
    return steps
