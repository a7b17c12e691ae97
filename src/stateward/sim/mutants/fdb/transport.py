"""Bugs about TLS: who listens how, and when that changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from stateward.core.outcome import DONE
from stateward.fdb.cluster.listening import Listening
from stateward.fdb.cluster.steps.telling import check_certificates
from stateward.fdb.decide.tls import listeners as deciding
from stateward.fdb.model.transport import Papers, Transport
from stateward.fdb.status import processes
from stateward.sim.mutants.planting import Patch, bug


@bug(
    "M46",
    "the old address is dropped as soon as another kind is asked for: coordinators are still there",
    "FoundationDB/fdb-kubernetes-operator, the order of a TLS conversion",
    *("fdb-tls-on",),
)
def drop_at_once(patch: Patch) -> None:
    """Listen as asked, whoever is found otherwise."""

    def judge(scene: deciding.Scene) -> Transport:
        return Transport(scene.asked, not scene.asked, papers=scene.papers)

    patch.put(deciding, "judge", judge)


@bug(
    "M47",
    "TLS is begun while pods have no certificates",
    "TLS and a template at once: files are written before pods have what they name",
    *("fdb-tls-pods",),
)
def begin_without_certificates(patch: Patch) -> None:
    """Take every pod for one that has them."""

    def lacking(_self: Listening, _spec: object, _groups: Iterable[object]) -> tuple[str, ...]:
        return ()

    patch.put(Listening, "_lacking", lacking)


@bug(
    "M48",
    "where a certificate is missing a cluster begins in plain text",
    "K8SPSMDB-578, K8SPXC-896",
    *("fdb-tls-late",),
)
def plain_instead(patch: Patch) -> None:
    """Take a secret that is not there for TLS that is not asked for."""
    inner = deciding.judge

    def judge(scene: deciding.Scene) -> Transport:
        if scene.papers.flaws:
            return inner(replace(scene, asked=False, papers=Papers()))
        return inner(scene)

    patch.put(deciding, "judge", judge)
    patch.put(check_certificates.CheckCertificates, "run", _nothing)


async def _nothing(_self: Any, _seen: Any) -> Any:
    return DONE


@bug(
    "M49",
    "of two addresses only the one is seen that a status tells",
    "status json has one address of a process; its command line has both",
    *("fdb-tls-off",),
)
def one_address(patch: Patch) -> None:
    """Do not read the command line."""
    patch.put(processes, "_told", lambda _line: ())


BUGS = (drop_at_once, begin_without_certificates, plain_instead, one_address)
