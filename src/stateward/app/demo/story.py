"""The story: what is done, chapter by chapter, and what must become true of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stateward.app.demo.stage import KEY, Picture, Stage
from stateward.example.api import TEAMS
from stateward.kube import conditions
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import STATEFUL_SETS

SERVERS = ObjectKey("demo", "web")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One thing that is done, and what must become true of it."""

    title: str
    act: Callable[[], Awaitable[None]]
    holds: Callable[[Picture], bool]


def story(it: Stage) -> list[Chapter]:
    """Return the chapters in order."""
    return [
        Chapter("start three servers, one after another", lambda: _serve(it), _serves(3)),
        Chapter("kill one of them: its node starts it again", _Killing(it), _has_restarted),
        Chapter("create a team of 3 through a custom resource", lambda: _create(it), _is_as_asked),
        Chapter(
            "change its motto, one member at a time",
            lambda: _edit(it, {"motto": "onward"}),
            _is_as_asked,
        ),
        Chapter("pull the leader's network cable and ask for 6", lambda: _pull(it), _is_as_asked),
        Chapter("delete it: members first, then the team", lambda: _delete(it), _is_gone),
    ]


async def _serve(it: Stage) -> None:
    await it.client.create(STATEFUL_SETS, servers())


class _Killing:
    """Kill the process of the second server, as a crash would."""

    def __init__(self, it: Stage) -> None:
        self._it = it

    async def __call__(self) -> None:
        self._it.cluster.agent.faults.kill(ObjectKey(SERVERS.namespace, f"{SERVERS.name}-1"))


async def _create(it: Stage) -> None:
    team = {
        "metadata": {"namespace": KEY.namespace, "name": KEY.name},
        "spec": {"size": 3, "motto": "hold fast"},
    }
    await it.client.create(TEAMS, team)


async def _edit(it: Stage, spec: Json) -> None:
    await it.client.patch(TEAMS, KEY, MergePatch({"spec": spec}))


async def _pull(it: Stage) -> None:
    it.cables[it.picture().leader].pull()
    await _edit(it, {"size": 6})


async def _delete(it: Stage) -> None:
    found = await it.client.get(TEAMS, KEY)
    await it.client.delete(TEAMS, KEY, uid=found.metadata.uid)


def servers() -> Json:
    """Return three small servers with names that last."""
    labels = {"app": SERVERS.name}
    container = {
        "name": "web",
        "image": "stateward.dev/web:1",
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    pod = {
        "terminationGracePeriodSeconds": 2,
        "containers": [container],
        "topologySpreadConstraints": [spread],
    }
    return {
        "metadata": {"namespace": SERVERS.namespace, "name": SERVERS.name},
        "spec": {
            "serviceName": SERVERS.name,
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _serves(count: int) -> Callable[[Picture], bool]:
    return lambda picture: sum(pod.ready for pod in picture.pods) == count


def _has_restarted(picture: Picture) -> bool:
    restarts = (
        status.restart_count for pod in picture.pods for status in pod.status.container_statuses
    )
    return any(restarts) and _serves(3)(picture)


def _is_as_asked(picture: Picture) -> bool:
    team = picture.team
    return (
        team is not None
        and conditions.is_true(team.status.conditions, "Ready")
        and team.status.observed_generation == team.metadata.generation
        and len(picture.members) == team.spec.size
        and all(member.data["motto"] == team.spec.motto for member in picture.members)
    )


def _is_gone(picture: Picture) -> bool:
    return picture.team is None and not picture.members
