"""A stage in virtual time, on which programs are only acted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.kube.codec import Json
from stateward.local.agent.images import Answer, Images
from stateward.local.agent.life.backoff import Backoff
from stateward.sim.loop import SimClock, SimLoop
from unit.local.agent.acting import Acted, Actors, Wire, inline
from unit.local.agent.stage import Stage, container


class Theatre(Stage):
    """A stage in virtual time; an image ``x`` runs the script ``x``."""

    def __init__(self, root: Path, **scripts: Any) -> None:
        loop = cast("SimLoop", asyncio.get_running_loop())
        self.actors = Actors(**scripts)
        self.wire = Wire()
        images = Images()
        images.add("*", lambda asked: Answer((asked.image, *asked.words)))
        ports = Ports(SimClock(loop), Chance(1))
        super().__init__(
            ports,
            root,
            images,
            runner=lambda *_: self.actors,
            network=lambda: self.wire,
            aside=inline,
            backoff=Backoff(),
        )

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def named(self, image: str) -> list[Acted]:
        return [it for it in self.actors.started if it.launch.argv[0] == image]


def quits(code: int, after: float = 0.0) -> Any:
    return lambda acted: acted.end_after(after, code)


def one(image: str, name: str = "main", **more: Any) -> Json:
    return {**container(image, **more), "name": name}
