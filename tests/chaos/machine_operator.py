"""An operator who looks after the server: writes something now and then, and has the server started again if it goes on
refusing writes after the disk has failed. After a disk that was full no operator should have to."""

import threading
import time

from patient_client import PatientWire

GLANCE_SECONDS = 0.4
PATIENCE_SECONDS = 3  # after a write or a sync has failed
LONG_PATIENCE_SECONDS = 20  # after a disk was full
DISK_FAULTS = ("full disk", "slow disk")
TABLE = "glances"


class MachineOperator:
    def __init__(self, world, verdict):
        self.world, self.verdict = world, verdict
        self.restarts = 0
        self.enough = threading.Event()
        self._wire = PatientWire(world.server)
        self._refused_since = None
        self._full_disks = 0  # that writes have been seen after
        self._wire.call_surely(
            "CreateTable",
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def finish(self):
        self.enough.set()
        self._thread.join()

    def _run(self):
        while not self.enough.wait(GLANCE_SECONDS):
            begin = self.world.server.starts
            # Another item each time: one that changes nothing is not written.
            item = {"Id": {"S": "glance"}, "At": {"N": str(time.monotonic_ns())}}
            reply = self._wire.call("PutItem", TableName=TABLE, Item=item)
            if reply is None or begin != self.world.server.starts:
                self._refused_since = None
            elif reply.status == 200:
                self._refused_since = None
                self._note_recoveries()
            else:
                if self._refused_since is None:
                    self._refused_since = self.world.timeline.begin("writes refused").began
                self._judge_refusal(reply)

    def _note_recoveries(self):
        self.world.timeline.end_all("writes refused")
        ended = sum(fault.ended is not None for fault in self.world.timeline.of("full disk"))
        for _ in range(ended - self._full_disks):
            self.verdict.check("a disk that has room again is written to", True, "")
        self._full_disks = max(self._full_disks, ended)

    def _judge_refusal(self, reply):
        timeline = self.world.timeline
        if timeline.lasts(*DISK_FAULTS):
            return
        since = max([self._refused_since, *[fault.ended for fault in timeline.of(*DISK_FAULTS)]])
        has_failed = self.world.machine.lasting_failures() > self.world.server.failures_at_start
        refused = time.monotonic() - since
        if refused < (PATIENCE_SECONDS if has_failed else LONG_PATIENCE_SECONDS):
            return
        seen = f"refused for {refused:.1f} s at {time.monotonic() - timeline.began:.2f}: {reply.body[:300]!r}"
        seen += f" among [{timeline.show(since - 20, time.monotonic())}]"
        if not has_failed:
            self.verdict.check("a disk that has room again is written to", False, seen)
        readiness = self.world.server.readiness()
        if readiness is not None:
            self.verdict.check("who refuses writes does not say that it is ready", readiness != 200, seen)
        self.restarts += 1
        self._refused_since = None
        timeline.moment("restart by the operator")
        self.world.server.terminate()
