"""A pod on a node: what runs in it, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Protocol

from stateward.core.chance import Chance
from stateward.core.moments import to_rfc3339
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey

#: The network that every pod has a second address in.
_SIX: Final = IPv6Address("fd00::")


class Program(Protocol):
    """What runs in a container."""

    @property
    def ready(self) -> bool:
        """Whether its readiness probe succeeds."""

    def stop(self, *, gently: bool) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a program is started with."""

    pod: Json
    address: str
    on_exit: Callable[[int, str], None]
    on_change: Callable[[], None]


#: Starts the program of a pod; a text: why it cannot be started yet.
Runner = Callable[[Launch], "Program | str"]


@dataclass(slots=True)
class Node:
    """A place for pods."""

    name: str
    zone: str = ""
    #: Kubernetes hears nothing of it, and it nothing of Kubernetes.
    lost: bool = False
    #: Without power, nothing runs on it either.
    dark: bool = False
    #: How often it was lost.
    losses: int = 0
    #: Keys of taints that people gave it: no pod comes, and those that are there stay.
    taints: tuple[str, ...] = ()
    #: Since when, in virtual seconds.
    tainted_at: float = 0.0


@dataclass(slots=True, eq=False)
class Lodger:
    """A pod on a node."""

    key: ObjectKey
    uid: str
    node: Node
    address: str
    chance: Chance
    #: Its containers; the program is that of the first.
    containers: tuple[str, ...]
    program: Program | None = None
    restarts: int = 0
    #: How often in a row it ended soon after its start.
    failures: int = 0
    started_at: float = 0.0
    #: Why it does not run: the reason of the waiting state.
    waiting: str = "ContainerCreating"
    last_end: Json | None = None
    leaving: bool = False
    #: It does not end before this moment, whoever asks for it.
    stuck_until: float = 0.0
    reported: Json = field(default_factory=dict)
    telling: bool = False


def both(address: str) -> tuple[str, str]:
    """Return the addresses of a pod, of both families; who asks for one gets the first.

    >>> both("10.0.0.7")
    ('10.0.0.7', 'fd00::a00:7')
    """
    return address, str(IPv6Address(int(_SIX) + int(IPv4Address(address))))


def status_of(lodger: Lodger, now: float) -> Json:
    """Return what its node tells of a pod."""
    program = lodger.program
    ready = program is not None and program.ready
    state: Json = (
        {"running": {"startedAt": to_rfc3339(lodger.started_at)}}
        if program is not None
        else {"waiting": {"reason": lodger.waiting}}
    )
    main, *others = (
        {"name": it, "ready": ready, "restartCount": 0, "state": state} for it in lodger.containers
    )
    main["restartCount"] = lodger.restarts
    if lodger.last_end is not None:
        main["lastState"] = {"terminated": lodger.last_end}
    said = {
        "Ready": "True" if ready else "False",
        "ContainersReady": "True" if ready else "False",
        "PodScheduled": "True",
    }
    old = {it["type"]: it for it in lodger.reported.get("conditions") or ()}
    return {
        "phase": "Running" if lodger.started_at else "Pending",
        "podIP": lodger.address,
        "podIPs": [{"ip": it} for it in both(lodger.address)],
        "conditions": [_condition(old, kind, status, now) for kind, status in said.items()],
        "containerStatuses": [main, *others],
    }


def unheard(lodger: Lodger, now: float) -> Json:
    """Return what others tell of a pod whose node nobody hears: what it was, and not ready."""
    told = dict(lodger.reported)
    old = {it["type"]: it for it in told.get("conditions") or ()}
    told["conditions"] = [
        _condition(old, kind, "False" if kind == "Ready" else it["status"], now)
        for kind, it in old.items()
    ]
    return told


def _condition(old: dict[str, Json], kind: str, status: str, now: float) -> Json:
    if kind in old and old[kind]["status"] == status:
        return old[kind]
    return {"type": kind, "status": status, "lastTransitionTime": to_rfc3339(now)}
