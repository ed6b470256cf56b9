"""The switches of the misbehaving machine: what the library below a server does to its disk and its clock."""

import ctypes
import mmap
import os
from pathlib import Path

# As in misbehaving_machine.cc.
NUMBERS = [
    "limits_space",
    "space",
    "write_delay",
    "sync_delay",
    "writes_to_fail",
    "syncs_to_fail",
    "clock_offset",
    "writes",
    "syncs",
    "failed_writes",
    "failed_syncs",
    "refused_for_space",
    "delays",
]
COUNTS = NUMBERS[7:]  # of what it was asked for and of what it did


class Machine:
    """The disk is a directory: what is below it misbehaves."""

    def __init__(self, library, folder):
        self.library = Path(library).resolve()
        assert self.library.exists(), f"{self.library} is not built"
        self.disk = Path(folder).resolve() / "disk"
        self.disk.mkdir(parents=True)
        self._lost = Path(folder).resolve() / "lost"
        self._control = Path(folder).resolve() / "control"
        self._control.write_bytes(bytes(mmap.PAGESIZE))
        with open(self._control, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self._numbers = (ctypes.c_int64 * len(NUMBERS)).from_buffer(self._memory)

    def environment(self):
        """For a process that shall run on this machine."""
        return {
            **os.environ,
            "LD_PRELOAD": str(self.library),
            "MACHINE_CONTROL": str(self._control),
            "MACHINE_DIRECTORY": str(self.disk),
            "MACHINE_LOST_RANGES": str(self._lost),
        }

    def set(self, **numbers):
        for name, value in numbers.items():
            self._numbers[NUMBERS.index(name)] = value

    def get(self, name):
        return self._numbers[NUMBERS.index(name)]

    def fill_disk(self, space_left=0):
        self.set(space=space_left)
        self.set(limits_space=1)

    def slow_disk(self, milliseconds):
        self.set(write_delay=milliseconds, sync_delay=milliseconds)

    def move_clock(self, seconds):
        self.set(clock_offset=int(seconds * 1_000_000_000))

    def clock_offset(self):
        return self.get("clock_offset") / 1_000_000_000

    def mend_disk(self):
        self.set(limits_space=0, write_delay=0, sync_delay=0, writes_to_fail=0, syncs_to_fail=0)

    def failures(self):
        """How often the disk has not done what it was asked for."""
        return sum(self.get(name) for name in ("failed_writes", "failed_syncs", "refused_for_space"))

    def lasting_failures(self):
        """For good, as far as a server can know: a disk that is full may have room again."""
        return self.get("failed_writes") + self.get("failed_syncs")

    def lose_unsynced(self):
        """Takes away what was written before syncs that failed, as a disk does. Returns the number of bytes. No process
        may run on the machine meanwhile."""
        if not self._lost.exists():
            return 0
        lost = 0
        for line in self._lost.read_text().splitlines():
            first, end, path = line.split(" ", 2)
            if not os.path.isfile(path):  # gone, or a directory, whose entries stay
                continue
            with open(path, "r+b") as file:
                size = file.seek(0, os.SEEK_END)
                first, end = int(first), min(int(end), size)
                if first < end:
                    file.seek(first)
                    file.write(bytes(end - first))
                    lost += end - first
        self._lost.unlink()
        return lost
