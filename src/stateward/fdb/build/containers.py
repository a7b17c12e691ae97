"""The containers of a pod as users gave them, with all that they need to run.

What a user says of a container stands; ours is filled in around it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from stateward.fdb.api import questions
from stateward.fdb.api.processes import ContainerOverrides
from stateward.fdb.build.basis import Basis
from stateward.fdb.build.servers import variables
from stateward.fdb.build.servers.arguments import CONF, DATA, LOGS
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import INIT_CONTAINER, MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.codec import Json

#: Volumes, by their names.
DATA_VOLUME: Final = "data"
CONFIG_VOLUME: Final = "config-map"
DYNAMIC_VOLUME: Final = "dynamic-conf"
BINARIES_VOLUME: Final = "shared-binaries"
LOGS_VOLUME: Final = "fdb-trace-logs"

_BINARIES: Final = "/var/fdb/shared-binaries"
_OUTPUT: Final = "/var/output-files"
_PROGRAMS: Final = ("--copy-binary", "fdbserver", "--copy-binary", "fdbcli")
_SIDECAR_PORT: Final = 8080
_MONITOR_PORT: Final = 8081


@dataclass(frozen=True, slots=True)
class Kind:
    """Whose containers they are: those of a class."""

    basis: Basis
    process_class: ProcessClass
    #: What the user says of fdbserver's container, whose variables others may need too.
    main: Json

    @property
    def servers(self) -> int:
        """How many processes a pod has."""
        return questions.servers_per_pod(self.basis.spec, self.process_class)


@dataclass(frozen=True, slots=True)
class _Needs:
    """What is filled in around what a user says."""

    version: str
    command: Sequence[str] = ()
    args: Sequence[str] = ()
    env: Sequence[Json] = ()
    mounts: Sequence[Json] = ()
    probes: Json = field(default_factory=dict)


def completed(kind: Kind, given: Json) -> Json:
    """Return a container that can run; one that is not ours is left as it is."""
    name = str(given.get("name"))
    maker = _MAKERS.get((kind.basis.image_type, name))
    if maker is None:
        return given
    needs = maker(kind)
    spec, cls = kind.basis.spec, kind.process_class
    found: Json = {**needs.probes, **given}
    found["image"] = questions.image_of(spec, cls, name, needs.version)
    if needs.command and not given.get("command"):
        found["command"] = list(needs.command)
    if words := [*needs.args, *(given.get("args") or ())]:
        found["args"] = words
    if env := named([*needs.env, *(given.get("env") or ())]):
        found["env"] = env
    found["volumeMounts"] = _mounted(needs.mounts, given.get("volumeMounts") or ())
    found["securityContext"] = {
        "readOnlyRootFilesystem": True,
        **(given.get("securityContext") or {}),
    }
    return found


def named(some: Iterable[Json]) -> list[Json]:
    """Return every entry with a name once, the last that was said, where the first one stands.

    >>> named([{"name": "a", "value": "1"}, {"name": "b"}, {"name": "a", "value": "2"}])
    [{'name': 'a', 'value': '2'}, {'name': 'b'}]
    """
    return list({str(it.get("name")): it for it in some}.values())


def _mounted(ours: Iterable[Json], theirs: Iterable[Json]) -> list[Json]:
    """A user may mount a volume at several places, but no two volumes at one."""
    said = list(theirs)
    taken = {it.get(key) for it in said for key in ("name", "mountPath")}
    free = (it for it in ours if taken.isdisjoint((it["name"], it["mountPath"])))
    return [*free, *said]


# ------------------------------------------------------------------ unified images
def _launcher(kind: Kind) -> _Needs:
    """fdb-kubernetes-monitor, which keeps the processes."""
    words = ["--input-dir", CONF, "--log-path", f"{LOGS}/monitor.log"]
    if kind.servers > 1:
        words += ["--process-count", str(kind.servers)]
    return _Needs(
        version=kind.basis.main_version,
        args=words,
        env=variables.of_server(kind.basis, kind.process_class),
        mounts=(
            _mount(DATA_VOLUME, DATA),
            _mount(CONFIG_VOLUME, CONF),
            _mount(BINARIES_VOLUME, _BINARIES),
            _mount(LOGS_VOLUME, LOGS),
        ),
        probes=_probes(kind.basis.spec.main_container, _MONITOR_PORT),
    )


def _binaries(kind: Kind) -> _Needs:
    """The same program beside it, which brings those of another version."""
    return _Needs(
        version=kind.basis.spec.version,
        args=[
            *("--mode", "sidecar", "--output-dir", _BINARIES),
            *("--main-container-version", kind.basis.main_version),
            *_PROGRAMS,
            *("--log-path", f"{LOGS}/sidecar.log"),
        ],
        mounts=(_mount(BINARIES_VOLUME, _BINARIES), _mount(LOGS_VOLUME, LOGS)),
    )


# ------------------------------------------------------------------ split images
def _monitor(kind: Kind) -> _Needs:
    """fdbmonitor, which keeps the processes and takes the place of the shell."""
    script = (
        f"exec fdbmonitor --conffile {CONF}/fdbmonitor.conf"
        f" --lockfile {CONF}/fdbmonitor.lockfile"
        f" --loggroup {shlex.quote(kind.basis.log_group)}"
    )
    return _Needs(
        version=kind.basis.main_version,
        command=("sh", "-c", script),
        env=variables.of_server(kind.basis, kind.process_class),
        mounts=(
            _mount(DATA_VOLUME, DATA),
            _mount(DYNAMIC_VOLUME, CONF),
            _mount(LOGS_VOLUME, LOGS),
        ),
    )


def _first(kind: Kind) -> _Needs:
    """The sidecar's program, once, before all others: as old as fdbserver.

    In an upgrade it would have a pod that is made now start with the new version, alone.
    """
    needs, version = _copier(kind), kind.basis.main_version
    return _Needs(version, (), [*needs.args, "--init-mode"], needs.env, needs.mounts)


def _sidecar(kind: Kind) -> _Needs:
    """The sidecar, which copies whenever it is asked to."""
    needs, options = _copier(kind), kind.basis.spec.sidecar_container
    words = [*needs.args, *(["--tls"] if options.enable_tls else [])]
    probes = _probes(options, _SIDECAR_PORT)
    return _Needs(needs.version, (), words, needs.env, needs.mounts, probes)


def _copier(kind: Kind) -> _Needs:
    spec = kind.basis.spec
    words = ["--copy-file", "fdb.cluster"]
    if spec.trusted_cas:
        words += ["--copy-file", "ca.pem"]
    words += ["--input-monitor-conf", "fdbmonitor.conf", *_PROGRAMS]
    words += ["--main-container-version", kind.basis.main_version]
    if (family := spec.routing.pod_ip_family) is not None:
        words += ["--public-ip-family", str(family)]
    if family == 6:  # probes may come to the other address of the pod
        words += ["--bind-address", f"[::]:{_SIDECAR_PORT}"]
    asked = variables.to_substitute(kind.basis, kind.process_class, kind.servers)
    words += [word for name in asked for word in ("--substitute-variable", name)]
    return _Needs(
        version=spec.version,
        args=words,
        env=[
            *(it for it in kind.main.get("env") or () if it.get("name") in asked),
            *variables.of_sidecar(kind.basis, kind.process_class),
        ],
        mounts=(_mount(CONFIG_VOLUME, variables.INPUT), _mount(DYNAMIC_VOLUME, _OUTPUT)),
    )


_MAKERS: Final[dict[tuple[str, str], Callable[[Kind], _Needs]]] = {
    ("unified", MAIN_CONTAINER): _launcher,
    ("unified", SIDECAR_CONTAINER): _binaries,
    ("split", MAIN_CONTAINER): _monitor,
    ("split", SIDECAR_CONTAINER): _sidecar,
    ("split", INIT_CONTAINER): _first,
}


# ------------------------------------------------------------------ pieces
def _mount(volume: str, path: str) -> Json:
    return {"name": volume, "mountPath": path}


def _probes(options: ContainerOverrides, port: int) -> Json:
    asked = {
        "livenessProbe": options.enable_liveness_probe,
        "readinessProbe": options.enable_readiness_probe,
    }
    return {name: _probe(port) for name, is_asked in asked.items() if is_asked}


def _probe(port: int) -> Json:
    return {
        "tcpSocket": {"port": port},
        "timeoutSeconds": 1,
        "periodSeconds": 30,
        "failureThreshold": 5,
    }
