"""A site of releases on loopback, whose archives are as good or as bad as a test wants."""

from __future__ import annotations

import gzip
import hashlib
import io
import platform
import ssl
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from stateward.app.etcd.releases import release_of

VERSION = "3.6.77"
RELEASE = release_of(VERSION, "https://example.org")
FOLDER = RELEASE.folder
ARCHIVE = RELEASE.archive.name
PROGRAMS = ("etcd", "etcdctl", "etcdutl")
assert platform.system() == "Linux"


def script(says: str = VERSION) -> bytes:
    return f"#!/bin/sh\necho 'etcd Version: {says}'\n".encode()


def archive(
    *entries: tuple[str, bytes | None], change: Callable[[tarfile.TarInfo], None] | None = None
) -> bytes:
    """Return a tar file of these names and contents; None is a link to /bin/sh."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in entries:
            entry = tarfile.TarInfo(name)
            if text is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/bin/sh"
            else:
                entry.size = len(text)
            if change:
                change(entry)
            tar.addfile(entry, io.BytesIO(text or b""))
    return out.getvalue()


def good(says: str = VERSION) -> bytes:
    extra = (f"{FOLDER}/README.md", b"read me")
    return archive(*((f"{FOLDER}/{it}", script(says)) for it in PROGRAMS), extra)


def leads_elsewhere() -> bytes:
    """Return one that would write outside of its folder, and has good programs besides."""
    names = ("../../escaped", "/tmp/stateward-escaped", f"{FOLDER}/../../escaped")
    programs = ((f"{FOLDER}/{it}", script()) for it in PROGRAMS)
    return archive(*((it, b"caught") for it in names), *programs)


def swollen(size: int) -> bytes:
    """Return one whose contents are many times its own size."""
    return archive((f"{FOLDER}/etcd", bytes(size)))


def cut() -> bytes:
    """Return one that ends in the middle, and has the checksum of just that."""
    whole = gzip.decompress(good())
    return gzip.compress(whole[: len(whole) // 20])


@dataclass(slots=True)
class Site:
    """What is served: by path, the code, the body and how many bytes are promised."""

    url: str = ""
    pages: dict[str, tuple[int, bytes, int]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    #: Cleared, the end of every archive is waited for.
    hold: threading.Event = field(default_factory=threading.Event)

    def offer(self, body: bytes, digest: str = "", code: int = 200, promised: int = 0) -> None:
        digest = digest or hashlib.sha256(body).hexdigest()
        sums = f"{'0' * 64}  etcd-v{VERSION}-other.zip\n{digest}  {ARCHIVE}\n".encode()
        self.pages[f"/v{VERSION}/SHA256SUMS"] = (200, sums, len(sums))
        self.pages[f"/v{VERSION}/{ARCHIVE}"] = (code, body, promised or len(body))

    def say(self, name: str, body: bytes, code: int = 200) -> None:
        self.pages[f"/v{VERSION}/{name}"] = (code, body, len(body))


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Serve a site in a thread until the end of the block."""
    site = Site()
    site.hold.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path in site.links:
                self.send_response(302)
                self.send_header("Location", site.links[self.path])
                self.end_headers()
                return
            code, body, promised = site.pages.get(self.path, (404, b"", 0))
            self.send_response(code)
            self.send_header("Content-Length", str(promised))
            self.end_headers()
            try:
                self.wfile.write(body)
                self.wfile.flush()
                if self.path.endswith(ARCHIVE):
                    site.hold.wait(30)
            except OSError:  # who only looks at the size does not read on
                self.close_connection = True

        def log_message(self, *_words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    site.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
