"""The chapters about FoundationDB: it is made beside etcd, and loses a pod that keeps data."""

from __future__ import annotations

from stateward.app.demo.chapters import Chapter
from stateward.app.demo.ledger import Ledger
from stateward.app.demo.picture import Holds, Picture, fdb_is_well

#: On how many zones it lies.
_ZONES = 3
#: Seconds between two looks.
_LOOK = 0.2
_KEY, _VALUE = "owed", "nothing"


def beside(ledger: Ledger) -> tuple[Chapter, ...]:
    """Return the chapters, for after etcd's own."""
    return (_create(ledger), _lose_pod(ledger))


def _create(ledger: Ledger) -> Chapter:
    async def act() -> Holds:
        await ledger.create()
        return fdb_is_well(_ZONES)

    title = "FoundationDB beside it: double redundancy on three zones"
    wanted = f"a FoundationDB that is as asked for, on {_ZONES} zones"
    return Chapter("fdb-create", title, wanted, act)


def _lose_pod(ledger: Ledger) -> Chapter:
    async def act() -> Holds:
        await ledger.write(_KEY, _VALUE)
        name, before = _keeper(ledger.picture())
        await ledger.delete_pod(name)
        clock = ledger.stage.ports.clock
        while ledger.picture().fdb_uids().get(name) in (None, before):
            await clock.sleep(_LOOK)
        while not await ledger.has(_KEY, _VALUE):
            await clock.sleep(_LOOK)
        return fdb_is_well(_ZONES)

    title = "FoundationDB: delete a pod that keeps data"
    wanted = "another pod on the same disk, and what was written to be there"
    return Chapter("fdb-lose-pod", title, wanted, act)


def _keeper(picture: Picture) -> tuple[str, str]:
    """Return a pod that keeps data, and its UID."""
    return min(it for it in picture.fdb_uids().items() if "-storage-" in it[0])
