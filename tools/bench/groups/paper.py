"""FoundationDB on paper: a kubelet that says that pods run, and a database that says that it is well.

Nothing runs, so a thousand process groups cost what the operator costs. What a pod is told to start
is worked out from its config map, as its monitor would, and is what the database tells of it; the
rest of its status was recorded from a real one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from stateward.core.version import Version
from stateward.fdb.api.kind import PROCESS_GROUPS
from stateward.fdb.build import config_map
from stateward.fdb.build.servers import commandlines, environment
from stateward.fdb.model import locality, names
from stateward.fdb.model.configuration import Configuration
from stateward.fdb.model.connection import ConnectionString
from stateward.fdb.status.reading import Status, read
from stateward.kube import codec
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS, PODS, VOLUME_CLAIMS
from stateward.local.api import Api
from stateward.local.rules.binding import Target
from stateward.local.rules.writes import Author

_RECORDED: Final = Path(__file__).parents[3] / "tests/recordings/fdb/status"
_SELF: Final = Author("kubelet")
#: Seconds between two looks of the kubelet, and nodes, each a zone.
_LOOK: Final = 1.0
_NODES: Final = 9
#: What the recorded database is, which the cluster shall be.
VERSION: Final = "7.3.79"


@cache
def _recorded(name: str) -> Json:
    found: Json = json.loads((_RECORDED / f"{name}.json").read_bytes())
    return found


@cache
def _entry(process_class: str) -> Json:
    """Return a process of a class, as one was recorded."""
    every = _recorded("healthy")["cluster"]["processes"].values()
    fitting = [it for it in every if it["class_type"] == process_class]
    return dict(max(fitting, key=lambda it: len(json.dumps(it))))


class PaperNodes:
    """Says of every pod that it runs, and of every claim that it is bound."""

    def __init__(self, api: Api, namespace: str, cluster: str, at_once: int) -> None:
        self._api = api
        self._at_once = at_once
        self._namespace = namespace
        self._config = ObjectKey(namespace, names.config_map_name(cluster))
        self._last = 0
        #: Entries of processes by the name of their pod, and what each pod has read.
        self.processes: dict[str, Json] = {}
        self._read: dict[str, str] = {}

    async def run(self) -> None:
        """Look again and again."""
        while True:
            self.look()
            await asyncio.sleep(_LOOK)

    def look(self) -> None:
        """See to whatever is new."""
        stored = self._api.store.get(CONFIG_MAPS.name, self._config)
        data = {} if stored is None else stored.document()["data"]
        for claim in self._api.store.all(VOLUME_CLAIMS.name, self._namespace):
            if b'"Bound"' not in claim.text:
                bound = MergePatch({"status": {"phase": "Bound"}})
                self._api.patch(VOLUME_CLAIMS, claim.key, bound, _SELF, subresource="status")
        if not data:
            return
        left = self._at_once
        for pod in self._api.store.all(PODS.name, self._namespace):
            if b'"podIP"' in pod.text:
                self._show(pod.key, data)
            elif left:
                left -= 1
                self._start(pod.key)

    def _start(self, key: ObjectKey) -> None:
        self._last += 1
        number = self._last
        self._api.bind(key, Target(f"node-{number % _NODES}"))
        containers = self._api.get(PODS, key).document()["spec"]["containers"]
        now = "2026-01-01T00:00:00Z"
        ready = [{"type": it, "status": "True"} for it in ("Ready", "ContainersReady")]
        running = {"ready": True, "started": True, "restartCount": 0, "image": "x", "imageID": ""}
        status = {
            "phase": "Running",
            "podIP": f"10.{number // 62_500}.{number // 250 % 250}.{number % 250 + 1}",
            "conditions": ready,
            "containerStatuses": [
                {"name": it["name"], "state": {"running": {"startedAt": now}}, **running}
                for it in containers
            ],
        }
        patch = MergePatch({"status": status})
        self._api.patch(PODS, key, patch, _SELF, subresource="status")

    def _show(self, key: ObjectKey, data: dict[str, str]) -> None:
        """Let a pod read its config map, and start what is said there."""
        stored = self._api.store.get(PROCESS_GROUPS.name, key)
        if stored is None:
            return
        seen = f"{data.get(names.CLUSTER_FILE_KEY)} {data.get(names.RUNNING_VERSION_KEY)}"
        if self._read.get(key.name) == seen:
            return
        self._read[key.name] = seen
        group = codec.decode(stored.text, PROCESS_GROUPS.type)
        conf = config_map.conf_text(data, group.spec) or ""
        patch = MergePatch({"metadata": {"annotations": {names.LAUNCHER_CONFIGURATION: conf}}})
        live = self._api.patch(PODS, key, patch, _SELF)
        if not data.get(names.CLUSTER_FILE_KEY):
            return
        pod = codec.decode(live.text, PODS.type)
        variables = environment.environment(group, pod)
        (line,) = commandlines.expected(conf, "unified", 1, variables)
        self.processes[key.name] = _told(group.spec.process_class, line)


def _told(process_class: str, arguments: tuple[str, ...]) -> Json:
    """Return what the database tells of a process that was started with some arguments."""
    given = dict(it.removeprefix("--").split("=", 1) for it in arguments if "=" in it)
    where = {
        name.removeprefix("locality_"): it
        for name, it in given.items()
        if name.startswith("locality_")
    }
    found = _entry(process_class)
    roles = [it for it in found["roles"] if it["role"] != "coordinator"]
    return {
        **found,
        "address": given["public_address"],
        "class_type": process_class,
        "command_line": " ".join(("/usr/bin/fdbserver", *arguments)),
        "fault_domain": where[locality.ZONE],
        "locality": {
            **where,
            "processid": hashlib.sha256(where["instance_id"].encode()).hexdigest()[:32],
        },
        "roles": roles,
        "version": VERSION,
    }


class PaperDatabase:
    """Whatever a cluster is found by is this one; it is made once, and then is well for ever."""

    def __init__(self, nodes: PaperNodes, now: Callable[[], float]) -> None:
        self._nodes = nodes
        self._now = now
        self._string = ""
        self._made = False
        self._text = ""
        self._of: tuple[object, ...] = ()
        self.asked = 0

    def reach(
        self, cluster: ObjectKey, connection: ConnectionString, version: Version
    ) -> PaperDatabase:
        """Return itself."""
        del cluster, version
        self._string = str(connection)
        return self

    def forget(self, cluster: ObjectKey) -> None:
        """There is nothing to forget."""

    async def status(self) -> Status:
        """Read what it says anew, each time."""
        self.asked += 1
        return read(self.text(), self._now())

    async def create(self, configuration: Configuration) -> None:
        """Be there from now on."""
        del configuration
        self._made = True

    def text(self) -> str:
        """Return what ``status json`` prints."""
        now = (self._string, self._made, len(self._nodes.processes))
        if now != self._of:
            self._of, self._text = now, json.dumps(self._document(), separators=(",", ":"))
        return self._text

    def _document(self) -> Json:
        whole = msgspec.json.decode(
            msgspec.json.encode(_recorded("healthy" if self._made else "unconfigured"))
        )
        string = ConnectionString.parse(self._string)
        every = list(self._nodes.processes.values())
        coordinating = {str(it) for it in string.coordinators}
        whole["client"]["coordinators"]["coordinators"] = [
            {"address": it, "protocol": "0fdb00b073000000", "reachable": True}
            for it in sorted(coordinating)
        ]
        told = whole["cluster"]
        told["connection_string"] = self._string
        told["processes"] = {
            it["locality"]["processid"]: _with_role(it, is_one=_name(it) in coordinating)
            for it in every
        }
        if self._made:
            told["machines"] = dict(_machines(every))
            logs = [it["address"] for it in every if it["class_type"] == "log"]
            told["logs"][0]["log_interfaces"] = [
                {"address": it, "healthy": True, "id": f"{number:016x}"}
                for number, it in enumerate(logs)
            ]
        return dict(whole)


def _name(process: Json) -> str:
    """Return by what a process is found where coordinators have names."""
    return f"{process['locality'][locality.DNS_NAME]}:4501"


def _with_role(process: Json, *, is_one: bool) -> Json:
    if not is_one:
        return process
    return {**process, "roles": [{"role": "coordinator"}, *process["roles"]]}


def _machines(processes: list[Json]) -> Iterator[tuple[str, Any]]:
    few = list(_recorded("healthy")["cluster"]["machines"].values())
    for it in processes:
        machine = it["locality"]["machineid"]
        yield machine, {**few[0], "address": it["address"], "machine_id": machine}
