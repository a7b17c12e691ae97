"""What is known of a scenario before anything goes wrong in it: the calm life that plans rest on.

A plan with the same seed goes exactly as the calm life until its first fault. So the calls of the
calm life are all the moments at which a first fault can come.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from stateward.etcd.api.kind import ETCD_CLUSTERS
from stateward.fdb.api.backups.kinds import BACKUPS, RESTORES
from stateward.fdb.api.kind import CLUSTERS, PROCESS_GROUPS
from stateward.kube.resources import BUILT_IN
from stateward.sim.lives import Ask, Life
from stateward.sim.sites import Site

_LEASES: Final = " leases."

#: Renewals say little: after the first few calls about the lease, one in so many is kept.
_FIRST_RENEWALS, _ONE_RENEWAL_IN = 4, 8

#: The names of kinds, by how calls write them.
_OURS: Final = (ETCD_CLUSTERS, CLUSTERS, PROCESS_GROUPS, BACKUPS, RESTORES)
_KINDS: Final = {str(it): it.kind for it in (*BUILT_IN, *_OURS)}


@dataclass(frozen=True)
class Scene:
    """A scenario with its calm life."""

    calm: Life
    #: The step at whose calls alone things go wrong, counted from 1; 0: at those of all.
    step: int = 0

    @property
    def ask(self) -> Ask:
        """What was lived in calm."""
        return self.calm.ask

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The calls at which things are made to go wrong: all, but for most renewals of a lease."""
        begins = (0, *self.calm.begins) if self.step else (0,)
        first, *ends = begins[self.step :]
        last = ends[0] if ends else len(self.calm.calls)
        return tuple(it for it in thinned(self.calm.calls) if first < it.number <= last)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of which the operator keeps a cache, by the lists that fill it."""
        lists = (it.text.split()[1] for it in self.calm.calls if it.text.startswith("list "))
        return tuple(dict.fromkeys(_KINDS[it] for it in lists))

    def site(self, number: int) -> Site | None:
        """Return the call of a number."""
        calls = self.calm.calls
        if 0 < number <= len(calls) and calls[number - 1].number == number:
            return calls[number - 1]
        return next((it for it in calls if it.number == number), None)


def thinned(calls: Iterable[Site]) -> Iterable[Site]:
    """Leave most renewals of leases out."""
    renewals = 0
    for it in calls:
        if _LEASES in it.text:
            renewals += 1
            if renewals > _FIRST_RENEWALS and renewals % _ONE_RENEWAL_IN:
                continue
        yield it


def place(site: Site) -> str:
    """Return a stable name of where in the code a call comes from, and what it asks for.

    >>> place(Site(1, "op0.1", "patch pods/status ns/shop-0", "etcd/a.py:tell", writes=True))
    'etcd/a.py:tell patch pods/status'
    """
    return " ".join((site.label, *site.text.split()[:2])).strip()
