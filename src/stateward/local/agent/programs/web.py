"""A small real web server: the image ``stateward.dev/web``.

It starts in milliseconds because it imports next to nothing. It listens on the pod's address and
the port of ``$PORT`` (8080 when unset), says which pod it is at ``/``, answers ``/healthz``, shows
a variable at ``/env/NAME``, counts visits at ``/count`` in the folder ``$DATA_DIR`` if there is
one, and ends on SIGTERM. ``POST /sick`` and ``POST /well`` change what ``/healthz`` answers.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys

_LARGEST_HEAD = 65_536


class Server:
    """Answers one request a connection, many connections at once."""

    def __init__(self, address: str, port: int, data: str = "") -> None:
        self._data = data
        self._sick = False
        self._heads: dict[socket.socket, bytes] = {}
        self._ends, wakes = socket.socketpair()
        wakes.setblocking(False)  # noqa: FBT003 - the name of the call says it
        self._wakes = wakes
        self._door = socket.socket()
        self._door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._door.bind((address, port))
        self._door.listen(128)
        self.address = self._door.getsockname()

    def run(self) -> None:
        """Serve until a signal arrives."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._door, selectors.EVENT_READ)
            selector.register(self._ends, selectors.EVENT_READ)
            while self._ends not in (ready := [key.fileobj for key, _ in selector.select()]):
                for each in ready:
                    self._serve(selector, each)

    def stop(self, *_signal: object) -> None:
        """Make :meth:`run` return."""
        self._wakes.send(b".")

    def answer(self, method: str, path: str) -> tuple[int, str]:
        """Return the status and the text for one request."""
        if method == "POST" and path in {"/sick", "/well"}:
            self._sick = path == "/sick"
            return 200, "noted\n"
        if path == "/healthz":
            return (503, "sick\n") if self._sick else (200, "ok\n")
        if path == "/count":
            return 200, f"{self._count()}\n"
        if path.startswith("/env/"):
            value = os.environ.get(path[5:])
            return (404, "unset\n") if value is None else (200, f"{value}\n")
        if path == "/":
            return 200, f"{os.environ.get('HOSTNAME', '?')}\n"
        return 404, "nothing here\n"

    def _serve(self, selector: selectors.BaseSelector, ready: object) -> None:
        if ready is self._door:
            connection, _ = self._door.accept()
            connection.settimeout(5)
            self._heads[connection] = b""
            selector.register(connection, selectors.EVENT_READ)
        elif isinstance(ready, socket.socket) and self._is_done(ready):
            selector.unregister(ready)
            del self._heads[ready]
            ready.close()

    def _is_done(self, connection: socket.socket) -> bool:
        """Take in what came; answer once the head is whole. True: the connection may go."""
        try:
            piece = connection.recv(4096)
            head = self._heads[connection] = self._heads[connection] + piece
            if b"\r\n\r\n" in head:
                connection.sendall(self._reply(head))
                return True
        except OSError:
            return True
        return not piece or len(head) > _LARGEST_HEAD

    def _reply(self, head: bytes) -> bytes:
        method, path, *_ = [*head.split(b"\r\n", 1)[0].decode("latin-1").split(" "), "", ""]
        status, text = self.answer(method, path.partition("?")[0])
        sys.stdout.write(f"{method} {path} {status}\n")
        sys.stdout.flush()
        words = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
        body = text.encode()
        return (
            f"HTTP/1.1 {status} {words}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        ).encode() + body

    def _count(self) -> int:
        if not self._data:
            return 0
        place = os.path.join(self._data, "visits")  # noqa: PTH118 - pathlib costs half of the start
        count = 1
        if os.path.exists(place):  # noqa: PTH110
            with open(place, encoding="ascii") as kept:  # noqa: PTH123
                count += int(kept.read() or 0)
        with open(f"{place}.new", "w", encoding="ascii") as kept:  # noqa: PTH123
            kept.write(str(count))
        os.replace(f"{place}.new", place)  # noqa: PTH105
        return count


def main() -> None:
    """Serve as the environment says."""
    address = os.environ.get("STATEWARD_ADDRESS", "127.0.0.1")
    server = Server(address, int(os.environ.get("PORT", "8080")), os.environ.get("DATA_DIR", ""))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.stop)
    host, port = server.address
    sys.stdout.write(f"listening on http://{host}:{port}/\n")
    sys.stdout.flush()
    server.run()
    sys.stdout.write("ended\n")


if __name__ == "__main__":
    main()
