"""Somebody who writes to FoundationDB from its pods for the length of a story.

Every write is a key of its own. What was acknowledged must be there at the end, whatever happened
meanwhile; a pod that ends, or a database that is just being restarted, is asked again later.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from cluster import databases
from cluster.site import Site
from cluster.table import ROWS, Row

_PAUSE: Final = 1.0
#: By how much the generation of a database grows with a recovery.
_GENERATIONS: Final = 2


class Shopper(Thread):
    """Writes one key after another, from one pod after another."""

    def __init__(self, site: Site, away: str) -> None:
        super().__init__(name="shopper", daemon=True)
        self._site = site
        self._away = away
        self._over = Event()
        self._tried = 0
        self.kept: list[str] = []
        #: The longest time in which nothing was acknowledged.
        self.gap = 0.0

    def run(self) -> None:
        """Write until it is over."""
        heard = time.monotonic()
        while not self._over.wait(_PAUSE):
            if self._writes():
                self.gap = max(self.gap, time.monotonic() - heard)
                heard = time.monotonic()

    def _writes(self) -> bool:
        self._tried += 1
        key = f"order/{self._tried:05}"
        line = f"writemode on; set {key} {self._tried}"
        if "Committed" not in databases.tried(self._site, line, self._tried, self._away):
            return False
        self.kept.append(key)
        return True

    def end(self) -> None:
        """Write no more; what is under way comes to its end."""
        self._over.set()
        self.join()

    def lost(self) -> list[str]:
        """Return what was acknowledged and is not there."""
        said = databases.fdbcli(self._site, "getrange order/ order0 100000")
        return [it for it in self.kept if f"`{it}' is `{int(it[6:])}'" not in said]


@contextmanager
def story(site: Site, name: str, away: str = "") -> Iterator[None]:
    """Measure a story while somebody writes, from nodes that stay; nothing of it may be lost."""
    databases.fdbcli(site, "writemode on; clearrange order/ order0")
    shopper = Shopper(site, away)
    shopper.start()
    began = time.monotonic()
    try:
        yield
        took = time.monotonic() - began
    finally:
        shopper.end()
    lost = shopper.lost()
    ROWS.append(Row(name, took, shopper.gap, len(shopper.kept), len(lost)))
    assert shopper.kept, "nothing was written"
    assert lost == []


def recoveries(site: Site) -> int:
    """Return how many recoveries there were."""
    found = json.loads(databases.fdbcli(site, "status json"))
    return int(found["cluster"]["generation"]) // _GENERATIONS
