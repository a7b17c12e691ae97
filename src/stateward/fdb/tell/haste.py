"""What of a cluster's status can wait a moment: what changes with every pod that comes. Pure.

The status of a large cluster is large. Written for each of its pods, it would be written more often
than all that it tells of.
"""

from __future__ import annotations

import msgspec

from stateward.fdb.api.status import FoundationDBClusterStatus


def can_wait(old: FoundationDBClusterStatus, new: FoundationDBClusterStatus) -> bool:
    """Tell whether a status says the same but for how far things are, and for its words."""
    return _essence(old) == _essence(new)


def _essence(status: FoundationDBClusterStatus) -> FoundationDBClusterStatus:
    replace = msgspec.structs.replace
    return replace(
        status,
        doing="",
        progress=None,
        process_groups=(),
        process_groups_truncated=False,
        reconciled_process_groups=0,
        locks=replace(status.locks, until=None),  # every act extends it
        blockers=tuple(replace(it, message="") for it in status.blockers),
        conditions=tuple(replace(it, message="") for it in status.conditions),
    )
