"""Small words for the tests of the embedded Kubernetes."""

from __future__ import annotations

from typing import Any

from contract.widgets import SCHEMA, WIDGETS
from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.codec import Json
from stateward.kube.structure import structure_of_schema
from stateward.local.api import Api
from stateward.local.kinds import Kinds, custom
from stateward.local.store import Store, Stored

STRUCTURE = structure_of_schema(SCHEMA)
KIND = custom(WIDGETS, STRUCTURE)


class Still:
    """A clock that shows what it is told."""

    def __init__(self, seconds: float = 1_767_225_600.0) -> None:
        self.seconds = seconds

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds

    def call_later(self, delay: float, callback: object) -> Any:
        raise AssertionError("nobody waits here")

    async def sleep(self, delay: float) -> None:
        raise AssertionError("nobody waits here")


def api(*, store: Store | None = None, clock: Still | None = None) -> Api:
    """Return a Kubernetes in which time stands still, and which knows widgets."""
    return Api(Ports(clock or Still(), Chance(1)), store=store, kinds=Kinds(KIND))


def named(name: str, namespace: str = "shop", **parts: Any) -> Json:
    return {"metadata": {"namespace": namespace, "name": name}, **parts}


def drawn(found: list[Stored]) -> str:
    """Write stored objects as a picture: ``a b``."""
    return " ".join(stored.key.name for stored in found)
