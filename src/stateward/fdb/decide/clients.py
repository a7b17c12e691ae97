"""What another version means: whether it is one at all, and which clients it would cut off."""

from __future__ import annotations

from enum import StrEnum

from msgspec import UNSET

from stateward.core.facts import Fact, Known
from stateward.core.version import Version
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.model import versions
from stateward.fdb.model.addresses import Address, parse_all
from stateward.fdb.status.clients import OldClient, cut_off_by
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status
from stateward.fdb.views import ClusterView, GroupView


class VersionChange(StrEnum):
    """What it takes to get from the version that runs to the one that is asked for."""

    NONE = "None"
    #: Processes of both understand each other, so they change one after another.
    COMPATIBLE = "Compatible"
    #: All processes change at once, and clients must understand the new ones.
    UPGRADE = "Upgrade"
    #: There is no way back.
    REFUSED = "Refused"


def version_change(view: ClusterView) -> VersionChange:
    """Return what the version that is asked for means to the one that runs."""
    wanted, running = Version.parse(view.spec.version), view.running_version
    if wanted == running:
        return VersionChange.NONE
    if versions.are_compatible(wanted, running):
        return VersionChange.COMPATIBLE
    return VersionChange.UPGRADE if wanted > running else VersionChange.REFUSED


def of_other_patch(view: ClusterView) -> tuple[GroupView, ...]:
    """Return the groups whose pods are as asked, and run another release of the same line.

    Their image is not what the version says, so no restart changes that.
    """
    if not versions.are_compatible(Version.parse(view.spec.version), view.running_version):
        return ()
    right = (UNSET, view.spec.version, f"{view.spec.version}{versions.PRERELEASE}")
    others = (it for it in view.staying() if _runs_other(it, right))
    return tuple(it for it in others if _is_settled(it))


def _is_settled(it: GroupView) -> bool:
    coming = it.has(Is.INCORRECT_POD_SPEC, Is.INCORRECT_SIDECAR_IMAGE, Is.INCORRECT_COMMAND_LINE)
    return it.pod is not None and not it.leaving and not coming


def _runs_other(it: GroupView, right: tuple[object, ...]) -> bool:
    return any(one.entry.version not in right for one in it.processes)


def blocking(view: ClusterView) -> Fact[tuple[OldClient, ...]]:
    """Return the clients that hold an upgrade up: those that it would cut off.

    Servers are clients of each other, and change with the upgrade. Without a database there is
    nobody to be cut off.
    """
    asked = version_change(view) is VersionChange.UPGRADE and view.configured
    if not asked or view.spec.ignore_upgradability_checks:
        return known(view.database, ())
    old = cut_off_by(view.database, Version.parse(view.spec.version))
    servers = _servers(view.database)
    if not isinstance(old, Known):
        return old
    if not isinstance(servers, Known):
        return servers
    ignored = view.spec.automation_options.ignore_log_groups_for_upgrade or ()
    left = [
        it
        for it in old.value
        if it.log_group not in ignored and _place(it.address) not in servers.value
    ]
    return known(view.database, tuple(left))


def _servers(status: Status) -> Fact[frozenset[str]]:
    """Return where processes of the database are."""
    entries = cluster(status).processes
    if entries is UNSET or not entries:
        return missing(status, "cluster.processes")
    found: set[str] = set()
    for it in entries.values():
        found |= set() if it.address is UNSET else _places(it.address)
    return known(status, frozenset(found))


def _places(text: str) -> set[str]:
    try:
        return {it.plain for it in parse_all(text)}
    except ValueError:
        return {text}


def _place(text: str) -> str:
    """Return an address without what is only said of it; with a server, TLS is not always told."""
    try:
        return Address.parse(text).plain
    except ValueError:
        return text
