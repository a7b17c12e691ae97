"""Whether processes listen with TLS, without it, or both, so that nobody is ever cut off.

From one to the other is a way of three stages: all listen in both kinds; coordinators are found by
the new one; the old one is dropped. Who is asked for TLS gets it when all pods have certificates
that can be used, and not before: the way does not begin until then.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stateward.core.facts import Fact, Known
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.transport import Papers, Transport
from stateward.fdb.status.processes import Reporting, Roster

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Scene:
    """What is asked for, and what is known."""

    #: Whether the spec asks for TLS.
    asked: bool
    connection: ConnectionString | None
    #: How processes were told to listen last.
    former: frozenset[bool]
    roster: Fact[Roster]
    papers: Papers
    #: The ids of groups that stay, and the names of those whose pods have no certificates yet.
    staying: frozenset[str] = frozenset()
    lacking: tuple[str, ...] = ()
    #: The names of groups that stay, have run, and of which not all processes report.
    absent: tuple[str, ...] = ()


def judge(scene: Scene) -> Transport:
    """Return how processes listen from now on."""
    used, found = _used(scene), scene.roster
    if not used:
        return Transport(scene.asked, not scene.asked, papers=scene.papers)
    needed = used | (_needed(found.value) if isinstance(found, Known) else scene.former)
    held = _held(scene) if is_to_begin(scene) else ""
    kinds = needed if held else needed | {scene.asked}
    dropped = scene.former - kinds
    if dropped and scene.absent:
        # Whoever comes back looks for coordinators where they were: there they must be found.
        kinds |= scene.former
        names = _shown(scene.absent)
        held = held or f"the old address is kept until these are back, or go: {names}"
    return Transport(
        True in kinds,
        False in kinds,
        held,
        isinstance(found, Known) and _differs(found.value, scene.staying, kinds),
        scene.papers,
    )


def is_to_begin(scene: Scene) -> bool:
    """Tell whether TLS is asked for where nobody was told of it yet: it may still wait.

    What a config map says counts for nothing: anybody may have written that.
    """
    used, found = _used(scene), scene.roster
    if not used or not scene.asked or True in used | scene.former:
        return False
    return not isinstance(found, Known) or True not in kinds_of(found.value)


def kinds_of(roster: Roster) -> frozenset[bool]:
    """Return in which kinds somebody listens now."""
    return frozenset(address.tls for it in _servers(roster) for address in it.addresses)


def _used(scene: Scene) -> frozenset[bool]:
    return (
        frozenset(it.tls for it in scene.connection.coordinators)
        if scene.connection
        else frozenset()
    )


def _held(scene: Scene) -> str:
    """Return why processes must not begin to listen with TLS."""
    if scene.papers.flaws:
        return scene.papers.flaws[0]
    if not scene.lacking:
        return ""
    return f"TLS is not begun: pods have yet to get certificates: {_shown(scene.lacking)}"


def _shown(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _needed(roster: Roster) -> frozenset[bool]:
    """Return in which kinds all must listen, because somebody listens in no other one."""
    return frozenset(it.addresses[0].tls for it in _servers(roster) if len(it.addresses) == 1)


def _differs(roster: Roster, staying: frozenset[str], wanted: frozenset[bool]) -> bool:
    """Tell whether somebody who stays listens otherwise than it shall."""
    mine = (it.addresses for name in staying for it in roster.groups.get(name, ()))
    many = len(wanted)
    return any(it and (len(it) != many or it[0].tls not in wanted) for it in mine)


def _servers(roster: Roster) -> Iterable[Reporting]:
    every = (*roster.nameless, *(it for some in roster.groups.values() for it in some))
    return (it for it in every if it.entry.class_type != ProcessClass.TEST)
