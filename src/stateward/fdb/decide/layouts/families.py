"""Of which family addresses are: names lead to one family only, that of the service below them.

A process listens at an address of one family. While some groups have addresses of another one,
names would lead to where they do not listen; so coordinators go by address until all are alike.
"""

from __future__ import annotations

from stateward.fdb.views import ClusterView


def names_lead_to(view: ClusterView) -> int | None:
    """Return the family that names must lead to; None: to none, as addresses differ.

    Who is being deleted is named by nobody any more.
    """
    wanted = view.spec.routing.pod_ip_family
    every = (it.addresses[0] for it in view.groups if it.addresses and not it.leaving)
    found = {6 if ":" in it else 4 for it in every} or {wanted or 4}
    if len(found) > 1 or (wanted is not None and found != {wanted}):
        return None
    return found.pop()
