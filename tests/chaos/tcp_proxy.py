"""A cable that can be cut: passes bytes between a server and one of the services that it uses.

It cuts all connections at once, holds back what is sent, refuses new connections, and cuts a connection right after
certain bytes have gone through: after the end of a message, or after COMMIT.
"""

import contextlib
import socket
import struct
import threading
import time

CHUNK = 1 << 16
CONNECT_SECONDS = 5


class Cable:
    """One connection. It remembers when it was cut."""

    def __init__(self, proxy, client, service):
        self.proxy, self.client, self.service = proxy, client, service
        self.cut_at = None
        self._end = b""

    def run(self):
        back = threading.Thread(target=self._pass_back, daemon=True)
        back.start()
        self._pass_on()
        back.join()
        for side in (self.client, self.service):
            side.close()
        self.proxy.forget(self)

    def cut(self):
        """As a network does: neither side is told in good order."""
        self.cut_at = self.cut_at or time.monotonic()
        for side in (self.client, self.service):
            with contextlib.suppress(OSError):
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def _pass_on(self):
        with contextlib.suppress(OSError):
            while data := self.client.recv(CHUNK):
                self.proxy.flowing.wait()
                self.service.sendall(data)
                if self._passed_trigger(data):
                    self.cut()
        self._close(self.service)

    def _pass_back(self):
        with contextlib.suppress(OSError):
            while data := self.service.recv(CHUNK):
                self.proxy.flowing.wait()
                self.client.sendall(data)
        self._close(self.client)

    def _close(self, side):
        with contextlib.suppress(OSError):
            side.shutdown(socket.SHUT_WR)

    def _passed_trigger(self, data):
        """Whether the bytes to cut after are in what was passed on, also across the borders of chunks."""
        trigger = self.proxy.trigger
        if not trigger:
            return False
        window = self._end + data
        self._end = window[-len(trigger) + 1 :]
        return trigger in window and self.proxy.take_trigger()


class TcpProxy:
    """`service` is a port of the loopback interface, or the path of a socket. `trigger` are the bytes that a connection
    can be cut after."""

    def __init__(self, service, trigger=b""):
        self.service, self.trigger = service, trigger
        self.flowing = threading.Event()
        self.flowing.set()
        self.refusing = False
        self.on_trigger = lambda: None  # called when a connection is cut after its trigger
        self._cuts_left = 0
        self._mutex = threading.Lock()
        self._cables = set()
        self._by_port = {}  # of the side of the service, where services see it; the last one that had it
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.restore()
        self._listener.close()
        self.cut()

    def cut(self):
        """All connections. Returns how many there were."""
        with self._mutex:
            cables = list(self._cables)
        for cable in cables:
            cable.cut()
        return len(cables)

    def cut_after_trigger(self, times):
        with self._mutex:
            self._cuts_left = times

    def take_trigger(self):
        with self._mutex:
            if self._cuts_left == 0:
                return False
            self._cuts_left -= 1
        self.on_trigger()
        return True

    def stall(self):
        """Holds back all bytes until restore()."""
        self.flowing.clear()

    def refuse(self):
        """Cuts all connections, and every new one, until restore()."""
        self.refusing = True
        self.cut()

    def restore(self):
        self.refusing = False
        self.flowing.set()
        self.cut_after_trigger(0)

    def cable_of(self, port):
        """The connection that a service sees as coming from this port."""
        with self._mutex:
            return self._by_port.get(port)

    def forget(self, cable):
        with self._mutex:
            self._cables.discard(cable)

    def _connect(self):
        if isinstance(self.service, int):
            return socket.create_connection(("127.0.0.1", self.service), CONNECT_SECONDS)
        service = socket.socket(socket.AF_UNIX)
        service.connect(str(self.service))
        return service

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            try:
                service = self._connect()
            except OSError:
                client.close()
                continue
            for side in (client, service):
                side.settimeout(None)
                if side.family == socket.AF_INET:
                    side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            cable = Cable(self, client, service)
            with self._mutex:
                self._cables.add(cable)
                if service.family == socket.AF_INET:
                    self._by_port[service.getsockname()[1]] = cable
            threading.Thread(target=cable.run, daemon=True).start()
