"""Who is made to control a cluster: the same order as in the real one, the best first."""

from __future__ import annotations

from typing import Final

from stateward.fdb.model.classes import ProcessClass

_ORDER: Final = (
    ProcessClass.CLUSTER_CONTROLLER,
    ProcessClass.STATELESS,
    ProcessClass.UNSET,
    ProcessClass.LOG,
    ProcessClass.TRANSACTION,
    ProcessClass.STORAGE,
)


def rank(kind: ProcessClass) -> int:
    """Return the place of a class; whatever is made for something else comes last."""
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
