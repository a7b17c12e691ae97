"""The example operator, assembled: which parts it has and how they are plugged together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stateward.core.ports import Ports
from stateward.example.api import TEAMS, Team
from stateward.example.controller import TeamReconciler
from stateward.kube.client import Client, Selection
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime import triggers
from stateward.runtime.cache import by_owner
from stateward.runtime.controller import Controller, Source
from stateward.runtime.election import Terms, candidate
from stateward.runtime.fencing import Fencing
from stateward.runtime.informer import Informer
from stateward.runtime.queue import WorkQueue
from stateward.runtime.supervisor import Parts, Supervisor
from stateward.runtime.telling.journal import Journal
from stateward.runtime.telling.metrics import Metrics
from stateward.runtime.telling.recorder import Recorder
from stateward.runtime.telling.teller import Ears, Teller
from stateward.runtime.tracking import Tracking

LEASE = ObjectKey("stateward", "example-operator")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the operator works: these namespaces, or all of them when none is named; for teams
    with these labels, or for all.

    Without a lease it must be the only instance.
    """

    namespaces: tuple[str, ...] = ()
    selector: str = ""
    lease: ObjectKey | None = LEASE


@dataclass(frozen=True, slots=True)
class _Unit:
    """What watches and works in one namespace, or in all of them."""

    informers: tuple[Informer[Any], ...]
    controller: Controller


def assemble(
    client: Client,
    ports: Ports,
    identity: str,
    metrics: Metrics,
    terms: Terms | None = None,
    *,
    place: Place | None = None,
) -> Supervisor:
    """Return the operator as one process runs it; ``identity`` must be this process's alone."""
    place = place or Place()
    elector = candidate(
        client,
        place.lease,
        identity,
        ports=ports.stream("election"),
        meter=metrics.leader(place.lease.name if place.lease else ""),
        terms=terms,
    )
    fenced = InterceptedClient(client, Fencing(elector.leadership))
    ears = Ears(
        Journal(),
        metrics.steps("team"),
        Recorder(fenced, ports.clock, "stateward-example", metrics.events(), instance=identity),
    )
    teller = Teller(ears, ports.clock)
    units = [
        _unit(
            fenced, Selection(namespace, place.selector), ports.stream(namespace), metrics, teller
        )
        for namespace in place.namespaces or ("",)
    ]
    informers = tuple(informer for unit in units for informer in unit.informers)
    return Supervisor(Parts(informers, tuple(unit.controller for unit in units), elector))


def _unit(
    client: Client, chosen: Selection, ports: Ports, metrics: Metrics, teller: Teller
) -> _Unit:
    """Return the caches of a namespace and the controller that reads them."""
    place = f"{chosen.namespace}/" if chosen.namespace else ""
    teams: Informer[Team] = Informer(
        client,
        TEAMS,
        chosen,
        ports=ports.stream("teams"),
        meter=metrics.informer(f"{place}{TEAMS.name}"),
    )
    members: Informer[ConfigMap] = Informer(
        client,
        CONFIG_MAPS,
        Selection(chosen.namespace),
        ports=ports.stream("members"),
        meter=metrics.informer(f"{place}{CONFIG_MAPS.name}"),
        indexes=(by_owner(),),
    )
    acting = InterceptedClient(client, Tracking((teams, members)))
    controller = Controller(
        f"{place}team",
        TeamReconciler(acting, teams.cache, members.cache, teller, ports.clock),
        queue=WorkQueue(ports.stream("queue"), metrics.queue(f"{place}team")),
        sources=(Source(teams, triggers.itself), Source(members, triggers.owner(TEAMS))),
        client=client,
        ports=ports.stream("controller"),
        meter=metrics.controller(f"{place}team"),
    )
    return _Unit((teams, members), controller)
