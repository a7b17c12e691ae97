"""The example operator, assembled: which parts it has and how they are plugged together."""

from __future__ import annotations

from stateward.core.ports import Ports
from stateward.example.api import TEAMS, Team
from stateward.example.controller import TeamReconciler
from stateward.kube.client import Client
from stateward.kube.interception import InterceptedClient
from stateward.kube.meta import ObjectKey
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS
from stateward.runtime import triggers
from stateward.runtime.cache import by_owner
from stateward.runtime.controller import Controller, Source
from stateward.runtime.election import Elector, Terms
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


def assemble(
    client: Client, ports: Ports, identity: str, metrics: Metrics, terms: Terms | None = None
) -> Supervisor:
    """Return the operator as one process runs it; ``identity`` must be this process's alone."""
    teams: Informer[Team] = Informer(
        client, TEAMS, ports=ports.stream("teams"), meter=metrics.informer(TEAMS.name)
    )
    members: Informer[ConfigMap] = Informer(
        client,
        CONFIG_MAPS,
        ports=ports.stream("members"),
        meter=metrics.informer(CONFIG_MAPS.name),
        indexes=(by_owner(),),
    )
    elector = Elector(
        client,
        LEASE,
        identity,
        ports=ports.stream("election"),
        meter=metrics.leader(LEASE.name),
        terms=terms,
    )
    fenced = InterceptedClient(client, Fencing(elector.leadership))
    acting = InterceptedClient(fenced, Tracking((teams, members)))
    ears = Ears(
        Journal(),
        metrics.steps("team"),
        Recorder(fenced, ports.clock, "stateward-example", metrics.events(), instance=identity),
    )
    teller = Teller(ears, ports.clock)
    controller = Controller(
        "team",
        TeamReconciler(acting, teams.cache, members.cache, teller, ports.clock),
        queue=WorkQueue(ports.stream("queue"), metrics.queue("team")),
        sources=(Source(teams, triggers.itself), Source(members, triggers.owner(TEAMS))),
        client=client,
        ports=ports.stream("controller"),
        meter=metrics.controller("team"),
    )
    return Supervisor(Parts((teams, members), (controller,), elector))
