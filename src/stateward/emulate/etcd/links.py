"""Who reaches whom, and since when processes are connected."""

from __future__ import annotations

from typing import Final

from stateward.emulate.etcd.servers import Server

#: Seconds after which etcd gives up a connection over which nothing comes. The end of a process
#: ends its connections at once; a cut wire and a process that hangs do not.
_GIVEN_UP: Final = 5.0


class Links:
    """The wires between processes."""

    def __init__(self, servers: list[Server]) -> None:
        self._servers = servers
        #: Pairs of addresses that cannot reach each other.
        self.cuts: set[frozenset[str]] = set()
        #: Who takes whom for lost though they talk: a failed send that ends after its wire is back
        #: has a real member believe so, until the other one starts anew.
        self.mistaken: set[tuple[str, str]] = set()

    def reach(self, one: Server, other: Server) -> bool:
        """Tell whether two processes can talk now."""
        if one.ended or other.ended or one.hung or other.hung:
            return False
        if not self.cuts or one is other:
            return True
        return frozenset((one.start.address, other.start.address)) not in self.cuts

    def age(self, one: Server, other: Server | None, now: float) -> float | None:
        """Return for how long a process has been connected to another; None if it is not."""
        if one is other:
            return now
        if other is None or other.ended:
            return None
        address = other.start.address
        if (one.start.address, address) in self.mistaken:
            return None
        since = one.links.get(address)
        if since is None or now - one.silent.get(address, now) >= _GIVEN_UP:
            return None
        return now - since

    def note(self, now: float) -> None:
        """Remember who can talk from now on, and who cannot any more."""
        for one in self._servers:
            for other in self._servers:
                if one is not other and one.booted and other.booted:
                    self._note(one, other, now)

    def _note(self, one: Server, other: Server, now: float) -> None:
        address = other.start.address
        if not self.reach(one, other):
            if address in one.links:
                one.silent.setdefault(address, now)
            return
        silent = one.silent.pop(address, None)
        if address not in one.links or (silent is not None and now - silent >= _GIVEN_UP):
            one.links[address] = now

    def end(self, ended: Server) -> None:
        """Forget the connections to a process that has ended."""
        address = ended.start.address
        self.mistaken = {pair for pair in self.mistaken if address not in pair}
        for it in self._servers:
            it.links.pop(address, None)
            it.silent.pop(address, None)
