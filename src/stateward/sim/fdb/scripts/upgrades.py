"""A cluster becomes another line of releases, or is about to."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stateward.core.version import Version
from stateward.emulate.fdb.asking.clients import Client
from stateward.fdb.model.names import SIDECAR_CONTAINER
from stateward.fdb.model.versions import are_compatible
from stateward.kube.resources import PODS
from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.reading import version_of
from stateward.sim.fdb.scripts.kit import (
    BRISK,
    KEY,
    Script,
    Step,
    cluster,
    create,
    edit,
    groups,
    is_settled,
)
from stateward.sim.fdb.world import FdbWorld

_OLD, _NEW, _NEXT = "7.1.61", "7.3.63", "7.4.5"
#: Where somebody is who uses the database with a library of the old version.
_CLIENT: Final = "10.99.0.1:500"
#: Seconds for which it stays.
_STAYS: Final = 300.0


def _is_staged(it: FdbWorld) -> bool:
    """Tell whether all pods were given the programs of the new version."""
    store = it.world.api.store
    pods = [store.get(PODS.name, one.metadata.key) for one in groups(it)]
    return all(
        one is not None and version_of(one.document(), SIDECAR_CONTAINER) == _NEW for one in pods
    )


def _upgraded(version: str = _NEW) -> Step:
    return replace(edit(version=version), quick=5400.0, costs=Cost(restarts=1))


def _staged() -> Step:
    return replace(edit(until=_is_staged, version=_NEW), quick=600.0)


def _late_client() -> Step:
    """Have somebody come whom the upgrade would cut off, and go after a while."""

    async def do(it: FdbWorld) -> None:
        libraries = (Version.parse(_OLD),)
        for database in it.realm.databases:
            database.client_comes(Client(_CLIENT, libraries, "web"))

        def leave() -> None:
            for database in it.realm.databases:
                database.client_goes(_CLIENT)

        it.world.loop.call_outside(_STAYS, leave)

    return Step("an old client comes", do, is_settled, quick=7200.0, befalls=True)


def _is_restarted(it: FdbWorld) -> bool:
    """Tell whether all processes are of the new line, and the cluster says so.

    Somebody may ask for another release of it in the middle.
    """
    found = cluster(it)
    running = found.status.running_version if found is not None else ""
    return bool(running) and are_compatible(Version.parse(running), Version.parse(_NEW))


def _restarted() -> Step:
    step = edit(until=_is_restarted, version=_NEW)
    return replace(step, quick=600.0, costs=Cost(restarts=1, recoveries=1))


def _followed() -> Step:
    """Do nothing, and wait until pods have the new version, too."""

    async def do(it: FdbWorld) -> None:
        pass

    return Step("pods follow", do, is_settled, quick=3600.0, befalls=True)


def _begun(**spec: object) -> Step:
    return create(KEY, version=_OLD, **spec)


SCENARIOS: Final[dict[str, Script]] = {
    "fdb-upgrade": (_begun(), _upgraded()),
    "fdb-upgrade-eager": (_begun(minimumUptimeSecondsForBounce=1), _upgraded()),
    "fdb-upgrade-brisk": (_begun(**BRISK), _restarted(), _followed()),
    "fdb-upgrade-split": (_begun(imageType="split"), _upgraded()),
    "fdb-upgrade-rollback": (
        _begun(),
        _staged(),
        replace(edit(version=_OLD), quick=900.0),
    ),
    "fdb-upgrade-client": (
        _begun(minimumUptimeSecondsForBounce=120),
        _staged(),
        _late_client(),
    ),
    "fdb-upgrade-twice": (_begun(), _upgraded(), _upgraded(_NEXT)),
}
