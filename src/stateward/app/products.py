"""The operators that we ship, and what each is given to work with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from stateward.app.settings import Settings
from stateward.core.ports import Ports
from stateward.example import operator as example
from stateward.example.api import TEAMS
from stateward.kube.client import Client
from stateward.kube.resources import Resource
from stateward.runtime.supervisor import Supervisor
from stateward.runtime.telling.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Site:
    """What one operator is given: a way to the cluster, time and chance, and its orders."""

    client: Client
    ports: Ports
    identity: str
    metrics: Metrics
    settings: Settings


@dataclass(frozen=True, slots=True)
class Product:
    """One operator: the kind that it keeps, and how it is put together."""

    name: str
    kind: Resource[Any]
    #: Gives the operator, ready to run, and clears away behind it.
    opened: Callable[[Site], AbstractAsyncContextManager[Supervisor]]


@asynccontextmanager
async def _example(site: Site) -> AsyncIterator[Supervisor]:
    place = example.Place(site.settings.namespaces, site.settings.lease("example"))
    yield example.assemble(site.client, site.ports, site.identity, site.metrics, place=place)


PRODUCTS: Final = {it.name: it for it in (Product("example", TEAMS, _example),)}
#: What runs unless something else is asked for.
USUAL: Final = ("example",)
