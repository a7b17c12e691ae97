"""The launcher of the unified image: one configuration file, some processes, one pod told of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stateward.core.duration import parse_seconds
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.emulate.keepers import children
from stateward.emulate.keepers.files import Watched, absolute
from stateward.emulate.keepers.image import Image, is_program
from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified import judgement, pod, web
from stateward.emulate.keepers.unified.judgement import Accepted, House, Refused
from stateward.emulate.keepers.unified.logs import Log
from stateward.emulate.keepers.unified.metrics import Metrics
from stateward.emulate.keepers.unified.pod import OwnPod
from stateward.emulate.keepers.unified.servers import Means, Servers
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import SERVICE_ACCOUNT, find_access
from stateward.kube.meta import ObjectKey

#: Seconds between two looks at files.
_LOOK = 0.15
#: Seconds that servers wait to hear whether their pod is isolated.
_FIRST_WORD = 5.0
#: Seconds after which a refused configuration is judged again.
_AGAIN = 1.0
#: A larger file is no configuration.
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """What a launcher is told."""

    config: Path
    #: fdbserver of the image, and the folder of others, as the container calls them.
    own: str
    shared: str
    processes: int
    door: web.Door
    #: Variables beside those of the process.
    extra: Mapping[str, str]
    watches_node: bool = False


async def run(options: Options, image: Image, log: Log, ports: Ports) -> int:
    """Launch until a signal comes; return the exit code."""
    signals: asyncio.Queue[int] = asyncio.Queue()
    for it in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(it, signals.put_nowait, it)
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        try:
            port = await stack.enter_async_context(web.serving(metrics, options.door))
        except UsageError as error:
            log.trouble("metrics cannot be served", error)
            return 1
        log.info("metrics are served", port=port)
        own = await stack.enter_async_context(_own_pod(image, log, ports))
        labels = await own.node_labels() if own is not None and options.watches_node else {}
        extra = {**options.extra, **{pod.label_variable(k): v for k, v in labels.items()}}
        patience = children.patience_of(os.environ)
        environment = {**os.environ, **extra}
        means = Means(image, log, ports.clock, metrics, os.environ, environment, patience)
        await Launcher(options, means, own).run(signals)
    return 0


@asynccontextmanager
async def _own_pod(image: Image, log: Log, ports: Ports) -> AsyncIterator[OwnPod | None]:
    """Give our own pod; None, and a word about it, where we cannot speak of it to anybody."""
    name, namespace = os.environ.get("FDB_POD_NAME"), os.environ.get("FDB_POD_NAMESPACE")
    # Whoever's file is in the home of the user is not meant: a pod has credentials of its own.
    environment = {k: v for k, v in os.environ.items() if k != "HOME"}
    try:
        if not name:
            raise UsageError("FDB_POD_NAME must say which pod this is")  # noqa: TRY301 - one place
        account = image.places.path(str(SERVICE_ACCOUNT))
        access = find_access(environment, service_account=account)
    except UsageError as error:
        log.info("goes on without annotations of the pod", why=error.sentence())
        yield None
        return
    async with HttpClient(access, ports.clock, ports.chance, field_manager=pod.MANAGER) as client:
        key = ObjectKey(namespace or access.namespace, name)
        yield OwnPod(client, key, ports.clock, log)


class Launcher:
    """Follows files and annotations, and has servers kept by them."""

    def __init__(self, options: Options, means: Means, own: OwnPod | None) -> None:
        self._options = options
        self._means = means
        self._log = means.log
        self._clock = means.clock
        self._pod = own
        self._accepted: Accepted | None = None
        self._refused = ""
        self._judged = 0.0
        self._cluster_file: Watched | None = None
        self._annotations: Mapping[str, str] = {}
        self._heard = False
        self._silent_until: float | None = None
        self._servers = Servers(means, options.processes)
        self._background: set[asyncio.Task[None]] = set()

    async def run(self, signals: asyncio.Queue[int]) -> None:
        """Launch until a signal comes; then end the servers, and wait if the pod says so."""
        if self._pod is not None:
            self._begin(self._pod.following(self._seen))
            self._begin(self._pod.publishing())
        watched = Watched(self._options.config)
        self._silent_until = self._clock.monotonic() + (_FIRST_WORD if self._pod else 0.0)
        if self._may_begin():
            self._load()
        while not (number := await _next(signals)):
            if self._may_begin() or watched.changed() or self._may_judge_again():
                self._load()
            self._look_at_cluster_file()
        self._log.info("ending by a signal", signal=signal.Signals(number).name)
        await asyncio.gather(self._servers.close(number), self._clock.sleep(self._delay()))
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.trouble("a part of the launcher ended", error)

    def _may_begin(self) -> bool:
        """Tell, once, that it is time for the first look at the configuration.

        The annotations are waited for, a moment: who is isolated starts nothing, not even at first.
        """
        if self._silent_until is None:
            return False
        if not self._heard and self._clock.monotonic() < self._silent_until:
            return False
        self._silent_until = None
        return True

    def _may_judge_again(self) -> bool:
        """Tell whether what was refused may be accepted by now: a program may have been copied."""
        return bool(self._refused) and self._clock.monotonic() - self._judged > _AGAIN

    def _load(self) -> None:
        """Read the configuration; one that is refused changes nothing, and is told once."""
        options = self._options
        self._judged = self._clock.monotonic()
        house = House(
            self._means.image.version,
            options.own,
            options.shared,
            options.processes,
            self._means.environment,
        )
        found = judgement.judge(_content(options.config), house, self._is_program)
        if isinstance(found, Refused):
            self._refuse(found)
            return
        self._refused = ""
        if found == self._accepted:
            return
        self._accept(found)

    def _refuse(self, found: Refused) -> None:
        if found.why != self._refused:
            path = str(self._options.config)
            self._log.trouble(
                "the configuration is refused, the last one stays", found.why, path=path
            )
        self._refused = found.why

    def _accept(self, accepted: Accepted) -> None:
        config = accepted.config
        self._log.info(
            "new configuration",
            version=config.version,
            runServers=config.runs,
            binaryPath=accepted.program,
        )
        self._accepted = accepted
        self._means.metrics.accepted(config.version, self._clock.now())
        self._servers.adopt(accepted)
        self._follow_cluster_file(accepted)
        if self._pod is not None:
            environment = judgement.environment_of(accepted, self._means.environment)
            text = json.dumps(environment, sort_keys=True, separators=(",", ":"))
            self._pod.publish({pod.CONFIGURATION: accepted.raw, pod.ENVIRONMENT: text})

    def _is_program(self, shown: str) -> bool:
        return is_program(Path(self._means.image.runs(shown)))

    def _follow_cluster_file(self, accepted: Accepted) -> None:
        words = configs.arguments(accepted.config, 1, self._means.environment)
        path = configs.cluster_file(words)
        self._cluster_file = Watched(self._means.image.places.path(path)) if path else None

    def _look_at_cluster_file(self) -> None:
        if self._cluster_file is None or not self._cluster_file.changed():
            return
        self._log.info("the cluster file has changed")
        if self._pod is not None:
            self._pod.publish({pod.CLUSTER_FILE: str(int(self._clock.now()))})

    def _seen(self, annotations: Mapping[str, str]) -> None:
        """Take in what the annotations of the pod say now."""
        self._heard = True
        before, self._annotations = self._annotations, dict(annotations)
        isolated = pod.is_true(annotations.get(pod.ISOLATED, ""))
        if isolated != pod.is_true(before.get(pod.ISOLATED, "")):
            self._log.info("the pod is isolated" if isolated else "the pod is isolated no longer")
            self._begin(self._servers.isolate(isolated=isolated))
        if annotations.get(pod.OUTDATED, "") != before.get(pod.OUTDATED, ""):
            self._load()

    def _delay(self) -> float:
        text = self._annotations.get(pod.DELAY, "")
        try:
            return max(0.0, parse_seconds(text)) if text else 0.0
        except ValueError as error:
            self._log.trouble("the annotation about a delay is passed over", error)
            return 0.0


def _content(path: Path) -> bytes:
    """Return what is in a file; nothing when it cannot be read, or is too large to be meant."""
    try:
        with absolute(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError:
        return b""
    return data if len(data) <= _LARGEST else b""


async def _next(signals: asyncio.Queue[int]) -> int:
    """Return a signal that came, or 0 when it is time to look at files."""
    try:
        async with asyncio.timeout(_LOOK):
            return await signals.get()
    except TimeoutError:
        return 0
