"""A place of releases of FoundationDB on this machine, whose files can be cut, missing or false."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stateward.app.fdb.releases import release_of

VERSION = "7.3.99"
FILES = release_of(VERSION, "https://example.org").files()


def program(says: str = VERSION) -> bytes:
    filling = "#" + "x" * 100_000
    return f"#!/bin/sh\necho 'FoundationDB 7.3 (v{says})'\nexit 0\n{filling}\n".encode()


@dataclass
class Site:
    """What is served by path, which of it ends in the middle, and what was asked for from where."""

    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    gives_parts: bool = True

    def offer(self, **bodies: bytes) -> None:
        for name, url in FILES.items():
            body = bodies.get(name.partition(".")[0], program())
            self.pages[f"/{VERSION}/{url.name}"] = body
            self.say(url.name, hashlib.sha256(body).hexdigest())

    def say(self, name: str, digest: str) -> None:
        self.pages[f"/{VERSION}/{name}.sha256"] = f"{digest}  {name}\n".encode()


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            site.asked.append((self.path, wanted))
            body = site.pages.get(self.path)
            if body is None:
                self.send_error(404)
                return
            since = int(wanted.removeprefix("bytes=").rstrip("-") or 0) if site.gives_parts else 0
            if since >= len(body) > 0:
                self.send_error(416)
                return
            self.send_response(206 if since else 200)
            self.send_header("Content-Length", str(len(body) - since))
            self.end_headers()
            end = site.cut.get(self.path, len(body))
            try:
                self.wfile.write(body[since : max(since, end)])
            except OSError:
                self.close_connection = True
            self.close_connection = self.close_connection or end < len(body)

        def log_message(self, *_words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
