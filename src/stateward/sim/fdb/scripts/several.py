"""One database in several data centers, each with a Kubernetes and an operator of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import Transaction
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.intents import Intent
from stateward.fdb.model.locks import PREFIX, Lock, lock_key
from stateward.fdb.tell.locking import GUARD
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists, NotFound
from stateward.sim.fdb.acts import happenings, targets
from stateward.sim.fdb.keys import KeysCall
from stateward.sim.fdb.laws.several.agreeing import told_at
from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.scripts.kit import (
    BRISK,
    KEY,
    KNOB,
    SMALL,
    Holds,
    Script,
    Step,
    cluster,
    groups,
    is_settled,
    manifest,
)
from stateward.sim.fdb.world import FdbWorld

#: What the data centers are called, and their operators, to each other.
THREE: Final = ("dc1", "dc2", "dc3")
_OLD, _NEW = "7.1.61", "7.3.63"
_OTHER_KNOB: Final[Json] = {"general": {"customParameters": ["knob_max_trace_lines=2000"]}}
#: Seconds after an edit at which operators have told each other of it, and wait.
_MIDDLE: Final = 5.0
#: Seconds of a nap that is longer than a lock.
_NAP: Final = 200.0
#: Seconds until a lock is another's: it lasts a minute, and who waits for it looks twice a minute.
_HEIR: Final = 120.0
#: The shortest lock that can be asked for: who is paused for longer has lost it.
_LOCKS: Final[Json] = {"disableLocks": False, "lockDurationMinutes": 1}
_SHARED: Final[Json] = {
    **BRISK,
    "databaseConfiguration": {"redundancy_mode": "double", "logs": 2},
    "faultDomain": {"key": "foundationdb.org/none"},
    "routing": {"useDNSInClusterFile": False},
    "lockOptions": _LOCKS,
}
_FEW: Final[Json] = {**SMALL, "storage": 2, "log": 2}


# -------------------------------------------------------------------------- looking


def _sites(it: FdbWorld, names: Sequence[str]) -> list[FdbWorld]:
    return [one for one in it.sites if one.world.place in names]


def _are_settled(*names: str) -> Holds:
    """Return whether all clusters are as asked for, or those of some data centers."""
    return lambda it: all(is_settled(one) for one in _sites(it, names or THREE))


# -------------------------------------------------------------------------- doing


def _created(**spec: object) -> Step:
    """Have somebody create one database in all data centers, in one after the other."""

    async def do(it: FdbWorld) -> None:
        first, *others = it.sites
        await _create(first, spec)
        await it.world.until("it has begun", lambda: is_settled(first), within=3600.0)
        if (found := cluster(first)) is not None:
            for site in others:
                await _create(site, spec, found.status.connection_string)

    return Step("create shop in all data centers", do, _are_settled(), quick=1800.0)


async def _create(site: FdbWorld, spec: dict[str, object], seed: str = "") -> None:
    place = site.world.place
    asked = {**_SHARED, "processCounts": _FEW, **spec}
    asked |= {"dataCenter": place, "processGroupIDPrefix": place}
    if seed:
        asked["seedConnectionString"] = seed
    with suppress(AlreadyExists):
        await site.world.client.create(CLUSTERS, manifest(KEY, **asked))


def _edited(text: str, *names: str, until: Holds | None = None, **spec: object) -> Step:
    """Have somebody change clusters alike, of some data centers or of all."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, names or THREE):
            with suppress(NotFound):
                await site.world.client.patch(CLUSTERS, KEY, MergePatch({"spec": spec}))

    return Step(text, do, until or _are_settled(*names), quick=1800.0)


def _replaced(*names: str, coordinates: bool = False) -> Step:
    """Have somebody ask for another storage server in the place of one, in some data centers."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, names):
            await _remove(site, "storage", coordinates=coordinates)

    text = f"another storage server in {' and '.join(names)}"
    return Step(text, do, _are_replaced, quick=2400.0)


def _replaced_late(name: str, late: str, seconds: int) -> Step:
    """Have somebody ask for others in two data centers, where one has no room for a while."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, [late]):
            happenings.happen(site, None, "no-room", str(seconds))
            await _remove(site, "storage")
        for site in _sites(it, [name]):
            await _remove(site, "storage", "log")

    text = f"others in {name} and {late}, which has no room for {seconds} s"
    return Step(text, do, _are_replaced, quick=2400.0, befalls=True)


async def _remove(site: FdbWorld, *classes: str, coordinates: bool = False) -> None:
    """Ask for others in the place of the first of some classes."""
    names = []
    for kind in classes:
        mine = [one for one in groups(site) if one.spec.process_class == kind]
        some = [one for one in mine if targets.coordinates(site, one.metadata.key)]
        names += [one.spec.process_group_id for one in (some if coordinates and some else mine)[:1]]
    site.notes |= {f"{site.world.place} {name}": name for name in names}
    with suppress(NotFound):
        asked = {"spec": {"processGroupsToRemove": names}}
        await site.world.client.patch(CLUSTERS, KEY, MergePatch(asked))


def _are_replaced(it: FdbWorld) -> bool:
    left = {one.spec.process_group_id for site in it.sites for one in groups(site)}
    return _are_settled()(it) and left.isdisjoint(it.notes.values())


# -------------------------------------------------------------------------- what befalls


def _holder(it: FdbWorld) -> Lock | None:
    """Return the lock as the database has it."""
    for database in it.realm.databases:
        at = Transaction(database.store, database.now, system=True, aware=True)
        if database.servers and (raw := at.get(lock_key())) is not None:
            return Lock.decode(raw)
    return None


def _holds(it: FdbWorld, name: str) -> bool:
    lock = _holder(it)
    return lock is not None and lock.owner == name


def _dies(name: str, heir: str) -> Step:
    """Have an operator end for ever while it holds the lock, and another one wait for it."""

    async def do(it: FdbWorld) -> None:
        (site,) = _sites(it, [name])
        await _edited("", name, processes=KNOB).do(it)
        await it.world.until(f"{name} has the lock", lambda: _holds(it, name), within=1800.0)
        for slot in site.operators:
            site.world.retire(slot)
        await _edited("", heir, processes=KNOB).do(it)

    text = f"{name} dies with the lock, and {heir} wants it"
    return Step(text, do, lambda it: _holds(it, heir), quick=_HEIR, befalls=True, law="F-L5")


def _dies_silently(name: str) -> Step:
    """Have an operator end for ever when others know that they shall wait for it."""

    async def do(it: FdbWorld) -> None:
        await _edited("", processes=KNOB).do(it)
        await it.world.until(f"{name} says so", lambda: _is_pending(it, name), within=1800.0)
        for site in _sites(it, [name]):
            for slot in site.operators:
                site.world.retire(slot)

    others = [one for one in THREE if one != name]
    text = f"a knob everywhere, and the operator of {name} dies before it is ready"
    return Step(text, do, _are_settled(*others), quick=1800.0, befalls=True, law="C-L1")


def _is_pending(it: FdbWorld, name: str) -> bool:
    """Tell whether an operator says that something of its own is to be restarted."""
    every = [told_at(one, PREFIX) for one in it.realm.databases if one.servers]
    return any(said.operator == name for told in every for said in told.of(Intent.RESTART))


def _renamed(name: str, other: str) -> Step:
    """Have a data center get another prefix just when all are asked for more."""

    async def do(it: FdbWorld) -> None:
        await _edited("", processes=KNOB).do(it)
        await asyncio.sleep(_MIDDLE)
        await _edited("", name, processGroupIDPrefix=other).do(it)

    text = f"a knob everywhere, and {name} becomes {other}"
    return Step(text, do, _are_settled(), quick=7200.0)


def _turns_away(name: str) -> Step:
    """Have a data center act alone just when all have said that they shall act together."""

    async def do(it: FdbWorld) -> None:
        await _edited("", processes=KNOB).do(it)
        await it.world.until(f"{name} says so", lambda: _is_pending(it, name), within=1800.0)
        await _edited("", name, automationOptions={"synchronizationMode": "local"}).do(it)

    text = f"a knob everywhere, and {name} acts alone when it has said so"
    return Step(text, do, _turned_away(name), quick=600.0, law="C-S7")


def _turned_away(name: str) -> Holds:
    """Return whether all is as asked, and nothing is left of what somebody said who acts alone."""

    def holds(it: FdbWorld) -> bool:
        every = [told_at(one, PREFIX) for one in it.realm.databases if one.servers]
        speaks = any(name in told.beats for told in every)
        return not speaks and not _is_pending(it, name) and _are_settled()(it)

    return holds


def _returns(name: str) -> Step:
    """Have the operator run again that ended."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, [name]):
            for slot in site.operators:
                site.world.restore(slot)

    return Step(f"the operator of {name} runs again", do, _are_settled(), quick=1800.0)


def _sleeps(name: str, heir: str) -> Step:
    """Have an operator stand still, with the lock just taken, for longer than that lasts."""

    async def do(it: FdbWorld) -> None:
        (site,) = _sites(it, [name])

        def look(_call: KeysCall, _database: Database) -> None:
            if _holds(it, name):
                it.realm.keyed.remove(look)
                for slot in site.operators:
                    if slot.process is not None:
                        slot.process.pause(_NAP)

        it.realm.keyed.append(look)
        await _edited("", name, processes=KNOB).do(it)
        await it.world.until(f"{name} has the lock", lambda: _holds(it, name), within=1800.0)
        await _edited("", heir, processes=KNOB).do(it)

    text = f"{name} sleeps with the lock for {_NAP:g} s, and {heir} wants it"
    return Step(text, do, _are_settled(), quick=1800.0, befalls=True, pauses=True)


def _cut(name: str, seconds: int) -> Step:
    """Have an operator reach no process of the database for a while, and all be asked for more."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, [name]):
            happenings.happen(site, None, "cut-all", str(seconds))
        await _edited("", processes=KNOB).do(it)

    text = f"a knob everywhere, and {name} reaches nobody for {seconds} s"
    return Step(text, do, _are_settled(), quick=1800.0, befalls=True)


def _clocks(**skews: float) -> Step:
    """Have the clocks of operators be wrong for ever."""

    async def do(it: FdbWorld) -> None:
        for site in _sites(it, list(skews)):
            for slot in site.operators:
                slot.clock.skew = skews[site.world.place]

    words = ", ".join(f"{name} by {skew:+g} s" for name, skew in skews.items())
    return Step(f"clocks are wrong: {words}", do, _are_settled(), befalls=True)


def _is_denied(name: str, guard: str = GUARD) -> Holds:
    """Return whether an operator says that it may not act, and the others are done."""

    def holds(it: FdbWorld) -> bool:
        (site,) = _sites(it, [name])
        found, others = cluster(site), [one for one in THREE if one != name]
        said = {one.guard for one in found.status.blockers} if found is not None else set()
        return guard in said and _are_settled(*others)(it)

    return holds


def _deny(name: str, *, allow: bool = False) -> Json:
    return {"lockOptions": {**_LOCKS, "denyList": [{"id": name, "allow": allow}]}}


#: Everybody restarts its own, each with the lock: at most so many recoveries.
_EACH: Final = Cost(restarts=len(THREE), recoveries=len(THREE), at_most=True)

_ALONE: Final[dict[str, Script]] = {
    # Operators act one after the other.
    "fdb-locks": (_created(), replace(_edited("a knob everywhere", processes=KNOB), costs=_EACH)),
    # Who acts by keys reads the lock as it acts.
    "fdb-locks-replace": (_created(), _replaced("dc1", "dc2")),
    "fdb-locks-dead": (_created(), _dies("dc1", heir="dc2"), _returns("dc1")),
    "fdb-locks-asleep": (_created(), _sleeps("dc1", heir="dc2")),
    "fdb-locks-cut": (_created(), _cut("dc2", seconds=120)),
    "fdb-locks-clocks": (
        _created(),
        _clocks(dc1=-40.0, dc2=40.0),
        _edited("a knob everywhere", processes=KNOB),
    ),
    # All of all change at once, when those of all are prepared.
    "fdb-locks-upgrade": (
        _created(version=_OLD),
        replace(_edited(f"{_NEW} everywhere", version=_NEW), quick=7200.0, costs=Cost(restarts=1)),
    ),
    # Also while nobody has it.
    "fdb-locks-denied": (
        _created(),
        _edited("dc2 is denied the lock", "dc1", **_deny("dc2")),
        _edited("a knob everywhere", until=_is_denied("dc2"), processes=KNOB),
        _edited("dc2 is allowed it", "dc1", until=_are_settled(), **_deny("dc2", allow=True)),
    ),
}
_TOGETHER: Final[Json] = {
    "automationOptions": {**_SHARED["automationOptions"], "synchronizationMode": "global"}
}

_ALL_AT_ONCE: Final[dict[str, Script]] = {
    # One restart of all, by one of them.
    "fdb-global": (
        _created(**_TOGETHER),
        replace(_edited("a knob everywhere", processes=KNOB), costs=Cost(1, 1)),
    ),
    "fdb-global-replace": (
        _created(**_TOGETHER),
        replace(_replaced("dc1", "dc2", coordinates=True), costs=Cost(0, exclusions=1, moves=1)),
    ),
    # Logs wait for nobody; storage servers for those of another data center.
    "fdb-global-classes": (_created(**_TOGETHER), _replaced_late("dc1", "dc2", seconds=120)),
    "fdb-global-dead": (_created(**_TOGETHER), _dies_silently("dc3"), _returns("dc3")),
    "fdb-global-cut": (_created(**_TOGETHER), _cut("dc2", seconds=120)),
    "fdb-global-clocks": (
        _created(**_TOGETHER),
        _clocks(dc1=-40.0, dc2=40.0),
        replace(_edited("a knob everywhere", processes=KNOB), costs=Cost(1, 1)),
    ),
    # Who is denied the lock says what it has ready, and another one acts for it.
    "fdb-global-denied": (
        _created(**_TOGETHER),
        _edited("dc2 is denied the lock", "dc1", **_deny("dc2")),
        replace(
            _edited("a knob everywhere", until=_is_denied("dc2", "LockDenied"), processes=KNOB),
            costs=Cost(1, 1),
        ),
        _edited("dc2 is allowed it", "dc1", until=_are_settled(), **_deny("dc2", allow=True)),
    ),
    # Who acts alone leaves nothing that others wait for; later it acts with them again.
    "fdb-global-mode": (
        _created(**_TOGETHER),
        _turns_away("dc1"),
        _edited("dc1 acts with the others again", "dc1", **_TOGETHER),
        replace(_edited("another knob everywhere", processes=_OTHER_KNOB), costs=Cost(1, 1)),
    ),
    "fdb-global-prefix": (
        _created(**_TOGETHER),
        replace(_renamed("dc1", "dc4"), quick=7200.0),
    ),
}
SCENARIOS: Final[dict[str, Script]] = {**_ALONE, **_ALL_AT_ONCE}
#: Where two tell as much as three.
_IN_TWO: Final = (
    *("fdb-locks-replace", "fdb-locks-dead", "fdb-locks-asleep", "fdb-locks-denied"),
    *("fdb-locks-upgrade", "fdb-global-classes", "fdb-global-prefix"),
    "fdb-global-mode",
)
PLACES: Final = {**dict.fromkeys(SCENARIOS, THREE), **dict.fromkeys(_IN_TWO, THREE[:2])}
