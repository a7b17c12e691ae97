"""Whether processes listen with TLS, without it, or both, so that nobody is ever cut off.

From one to the other is a way of three stages: all listen in both kinds; coordinators are found by
the new one; the old one is dropped. Who is asked for TLS gets it when all pods have certificates
that can be used, and not before: the way does not begin until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stateward.core.facts import Fact, Known
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.model.names import CLUSTER_FILE_KEY, is_own_key
from stateward.fdb.model.transport import Papers, Transport
from stateward.fdb.status.processes import Reporting, Roster

_SHOWN: Final = 3
_TLS: Final = ":tls"


@dataclass(frozen=True, slots=True)
class Scene:
    """What is asked for, and what is known."""

    #: Whether the spec asks for TLS.
    asked: bool
    connection: ConnectionString | None
    #: The config map as it is, empty where there is none; and how processes listened last.
    files: Mapping[str, str]
    former: frozenset[bool]
    roster: Fact[Roster]
    papers: Papers
    #: The ids of groups that stay, and the names of those whose pods have no certificates yet.
    staying: frozenset[str] = frozenset()
    lacking: tuple[str, ...] = ()


def judge(scene: Scene) -> Transport:
    """Return how processes listen from now on."""
    used, found = _used(scene), scene.roster
    if not used:
        return Transport(scene.asked, not scene.asked, papers=scene.papers)
    needed = used | (_needed(found.value) if isinstance(found, Known) else scene.former)
    if isinstance(found, Known) and not scene.staying <= found.value.groups.keys():
        # Whoever is away looks for coordinators where they were: that way stays until it is back.
        needed |= scene.former
    held = _held(scene) if is_to_begin(scene) else ""
    kinds = needed if held else needed | {scene.asked}
    return Transport(
        True in kinds,
        False in kinds,
        held,
        isinstance(found, Known) and _differs(found.value, scene.staying, kinds),
        scene.papers,
    )


def is_to_begin(scene: Scene) -> bool:
    """Tell whether TLS is asked for where nobody was told of it yet: it may still wait."""
    used = _used(scene)
    told = scene.former | _told_by(scene.files)
    return bool(used) and scene.asked and True not in used | told


def _used(scene: Scene) -> frozenset[bool]:
    return (
        frozenset(it.tls for it in scene.connection.coordinators)
        if scene.connection
        else frozenset()
    )


def _told_by(files: Mapping[str, str]) -> frozenset[bool]:
    """Return that processes are told to listen with TLS, where a config map says so.

    What users put beside that are texts of theirs.
    """
    ours = (it for it in files if is_own_key(it) and it != CLUSTER_FILE_KEY)
    found = (files[it] for it in ours)
    tls = any(_TLS in it for it in found)
    return frozenset({True}) if tls else frozenset()


def _held(scene: Scene) -> str:
    """Return why processes must not begin to listen with TLS."""
    if scene.papers.flaws:
        return scene.papers.flaws[0]
    if not scene.lacking:
        return ""
    more = f" and {len(scene.lacking) - _SHOWN} more" if len(scene.lacking) > _SHOWN else ""
    return f"pods have yet to get certificates: {', '.join(scene.lacking[:_SHOWN])}{more}"


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
