"""A cluster that says it is in another data center or hall: processes would be there at once.

Where regions or data halls are in use that takes copies away from where they must be: the place of
before has nobody any more, and all of its data at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stateward.core.facts import Known
from stateward.fdb.api.questions import says_locality
from stateward.fdb.decide.layouts.needs import lacking, places, places_in
from stateward.fdb.model import locality
from stateward.fdb.status.configuration import configuration
from stateward.fdb.views import ClusterView

#: By the field of a spec: the locality that it is told as, and a parameter that tells it instead.
_FIELDS: Final = {
    "dataCenter": (locality.DATA_CENTER, "locality_dcid"),
    "dataHall": (locality.DATA_HALL, "locality_data_hall"),
}


def would_lack(view: ClusterView) -> str:
    """Return what would lack if processes were where the spec says; nothing: they can be there."""
    if not (moves := dict(_moves(view))):
        return ""
    live, now = configuration(view.database), places(view)
    if not isinstance(live, Known) or not isinstance(now, Known):
        return ""
    new = {field: shall for field, (_, shall) in moves.items()}
    then = places_in(view, new.get("dataCenter"), new.get("dataHall"))
    if not isinstance(then, Known):
        return ""
    before = {it.words for it in lacking(now.value, live.value)}
    found = [it.words for it in lacking(then.value, live.value) if it.words not in before]
    if not found:
        return ""
    said = [f"{it} must stay {was}, got {shall or 'none'}" for it, (was, shall) in moves.items()]
    return f"{'; '.join(said)}: {'; '.join(found)}"


def _moves(view: ClusterView) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the fields that say other places than processes do, with both."""
    spec = view.spec
    wanted = {"dataCenter": spec.data_center, "dataHall": spec.data_hall}
    for field, (name, parameter) in _FIELDS.items():
        if says_locality(spec, parameter):
            continue
        every = (it for group in view.groups for it in group.processes)
        told = {found for it in every if (found := it.localities.get(name, ""))}
        others = sorted(told - {wanted[field]})
        if others:
            yield field, (others[0], wanted[field])
