"""Who is excluded, and is nothing left on a process?

Only what is said counts as proof. A process that does not report may still have the last copy of
something on its disk, so of such a one nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, UnsetType

from stateward.core.facts import Fact, Known, Unknown
from stateward.fdb.model import exclusions as entries
from stateward.fdb.model import locality
from stateward.fdb.model.addresses import parse_all
from stateward.fdb.model.exclusions import Exclusion
from stateward.fdb.status.document import Excluded
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.processes import Reporting, roster
from stateward.fdb.status.reading import Status

_PATH: Final = "cluster.configuration.excluded_servers"
#: Seconds for which a process must have been up before it counts that it names no roles: one that
#: has just started names none until it has found what is on its disk.
SETTLED: Final = 120.0
_LOGS: Final = "cluster.logs"
#: Roles that keep something; what is not known to keep nothing counts as keeping.
_KEEPERS: Final = {"storage", "log", "router", "backup", "blob_worker", "storage_cache"}
_OTHERS: Final = {
    "coordinator", "cluster_controller", "master", "commit_proxy", "grv_proxy", "proxy", "resolver",
    "data_distributor", "ratekeeper", "consistency_scan", "blob_manager", "encrypt_key_proxy",
}  # fmt: skip


def excluded(status: Status) -> Fact[frozenset[Exclusion]]:
    """Return every entry of the database's list."""
    configuration = cluster(status).configuration
    if configuration is UNSET or configuration.excluded_servers is UNSET:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    found = set()
    for it in configuration.excluded_servers:
        entry = _entry(it)
        if entry is None:
            return Unknown("the status has an exclusion that is none")
        found.add(entry)
    return known(status, frozenset(found))


def _entry(it: Excluded) -> Exclusion | None:
    text = it.address if it.locality is UNSET else it.locality
    try:
        return None if text is UNSET else entries.parse(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Left:
    """What a process group still has: why it must not go. Empty: nothing is left."""

    why: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether there is proof that nothing is left."""
        return not self.why


class Leftovers:
    """What process groups still have, by one status: asked once for all of them.

    ``settled`` is for how many seconds a process must be up before its silence about roles counts;
    SETTLED, unless somebody knows better.
    """

    def __init__(self, status: Status, settled: float | None = None) -> None:
        self._status, self._settled = status, SETTLED if settled is None else settled
        self._roster = roster(status)
        self._logs = log_addresses(status)

    def on(self, instance: str, processes: int) -> Fact[Left]:
        """Tell whether a process group is excluded and has nothing any more, by positive proof.

        ``processes`` is how many it is made of: of one that does not report nobody knows.
        """
        if not isinstance(self._roster, Known):
            return self._roster
        found = self._roster.value.groups.get(instance, ())
        if not found:
            return Unknown(f"{instance} does not report, so nobody knows what is on its disk")
        if len(found) < processes:
            return Unknown(
                f"of {instance} {len(found)} of {processes} processes report, so nobody knows what"
                " is on the disks of the others"
            )
        if self._roster.value.nameless and _is_beside(self._roster.value.nameless, found):
            return Unknown(f"a process beside {instance} does not say whose it is")
        for it in found:
            left = self._left(it)
            if not isinstance(left, Known) or not left.value.is_gone:
                return left
        return known(self._status, Left())

    def _left(self, process: Reporting) -> Fact[Left]:
        path, entry = f"cluster.processes.{process.key}", process.entry
        if entry.excluded is UNSET or entry.roles is UNSET or not process.addresses:
            return missing(self._status, path)
        if entry.uptime_seconds is UNSET:
            return Unknown(f"{_name(process)} did not answer, so it is listed without its roles")
        if not entry.excluded:
            return known(self._status, Left("it is not excluded"))
        for it in entry.roles:
            if it.role not in _OTHERS:
                return self._kept_by(it.role, _name(process))
        if entry.uptime_seconds < self._settled:
            return Unknown(
                f"{_name(process)} has run for less than {self._settled:.0f} s, and may not have"
                " named its roles yet"
            )
        return self._logs_on(process)

    def _logs_on(self, process: Reporting) -> Fact[Left]:
        if not isinstance(self._logs, Known):
            return self._logs
        if any(it.plain in self._logs.value for it in process.addresses):
            return known(self._status, Left("logs of a generation are on it"))
        return known(self._status, Left())

    def _kept_by(self, role: str | UnsetType, name: str) -> Fact[Left]:
        """Return what a role keeps; of one that nobody knows, nobody knows that either."""
        if role in _KEEPERS:
            return known(self._status, Left(f"it has the role {role}"))
        return Unknown(f"{name} has a role that nobody knows: {role}")


def _name(process: Reporting) -> str:
    """Return who a process is: its key in a status is a hash that nobody knows."""
    found = process.localities.get(locality.PROCESS) or process.instance
    return found or f"cluster.processes.{process.key}"


def _is_beside(nameless: Sequence[Reporting], processes: Sequence[Reporting]) -> bool:
    """Tell whether a process without a name may be one of some others: it is where they are."""
    here = {it.localities.get(locality.MACHINE) for it in processes} | {None}
    return any(it.localities.get(locality.MACHINE) in here for it in nameless)


def log_addresses(status: Status) -> Fact[frozenset[str]]:
    """Return where logs of any generation are, also of those before the current one."""
    sets = cluster(status).logs
    if sets is UNSET or not sets:
        return missing(status, _LOGS)
    if wrong := status.flaw(_LOGS):
        return Unknown(f"the status cannot be read: {wrong}")
    found: set[str] = set()
    for one in sets:
        if one.log_interfaces is UNSET:
            return missing(status, f"{_LOGS}.log_interfaces")
        for log in one.log_interfaces:
            if log.address is UNSET:
                return missing(status, f"{_LOGS}.log_interfaces.address")
            try:
                found |= {it.plain for it in parse_all(log.address)}
            except ValueError as error:
                return Unknown(f"the status has a log at an address that is none: {error}")
    return known(status, frozenset(found))
