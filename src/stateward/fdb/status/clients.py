"""Which clients would be cut off by a version?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import UNSET

from stateward.core.facts import Fact, Unknown
from stateward.core.version import Version
from stateward.fdb.model import versions
from stateward.fdb.status.document import ConnectedClient, SupportedVersion
from stateward.fdb.status.facts import cluster, known, missing
from stateward.fdb.status.reading import Status

_PATH = "cluster.clients.supported_versions"
#: Stands for the address of clients that a status counts and does not name.
UNNAMED = "more that the status does not name"


@dataclass(frozen=True, slots=True, order=True)
class OldClient:
    """A client whose newest library does not speak what a version speaks; or several of them.

    A status counts all and names only some: those that it does not name may be anybody.
    """

    address: str
    log_group: str
    version: str
    many: int = 1


def cut_off_by(status: Status, target: Version) -> Fact[tuple[OldClient, ...]]:
    """Return the clients that could not follow an upgrade to a version.

    Counted are clients under the newest protocol they have a library for; what they have besides
    does not matter.
    """
    found = cluster(status).clients
    if found is UNSET or found.supported_versions is UNSET:
        return missing(status, _PATH)
    if wrong := status.flaw(_PATH):
        return Unknown(f"the status cannot be read: {wrong}")
    old: list[OldClient] = []
    for it in found.supported_versions:
        if it.protocol_version is UNSET:
            return missing(status, _PATH)
        if it.max_protocol_clients is UNSET or it.max_protocol_count is UNSET:
            return missing(status, _PATH)
        if not _follows(it, target):
            old += _named(it, it.max_protocol_clients, it.max_protocol_count)
    return known(status, tuple(sorted(old)))


def _follows(it: SupportedVersion, target: Version) -> bool:
    """Tell whether a library speaks what a version speaks, or something newer."""
    line = versions.line_of(str(it.protocol_version))
    if line is None:
        return it.client_version is not UNSET and _is_new_enough(it.client_version, target)
    return line >= (target.major, target.minor)


def _is_new_enough(text: str, target: Version) -> bool:
    try:
        version = Version.parse(text)
    except ValueError:
        return False
    return versions.are_compatible(version, target) or version >= target


def _named(it: SupportedVersion, some: Iterable[ConnectedClient], counted: int) -> list[OldClient]:
    version = "unknown" if it.client_version is UNSET else it.client_version
    named = [
        OldClient(
            "unknown" if one.address is UNSET else one.address,
            "default" if one.log_group is UNSET else one.log_group,
            version,
        )
        for one in some
    ]
    more = counted - len(named)
    return [*named, OldClient(UNNAMED, "unknown", version, more)] if more > 0 else named
