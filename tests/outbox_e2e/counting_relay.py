"""Stands between a client and a store, passes on what comes, and breaks off in the middle of it: when the client has
begun so many requests of one kind."""

import contextlib
import socket
import threading


class CountingRelay:
    """Calls `then` when request number `count` with this operation comes; that one does not reach the store."""

    def __init__(self, port, operation, count, then):
        self.port_behind = port
        self.mark = f"DynamoDB_20120810.{operation}\r\n".encode()
        self.count, self.then = count, then
        self.seen = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                behind = socket.create_connection(("127.0.0.1", self.port_behind))
                self.sockets += [client, behind]
                threading.Thread(target=self._pass, args=(client, behind, self._look), daemon=True).start()
                threading.Thread(target=self._pass, args=(behind, client, lambda _: True), daemon=True).start()

    def _look(self, data):
        if self.mark not in data:
            return True
        with self.lock:
            self.seen += 1
            if self.seen < self.count:
                return True
        self.then()
        return False

    @staticmethod
    def _pass(source, target, look):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not look(data):
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in [self.listener, *self.sockets]:
            each.close()
