"""What people really do to a cluster: values that make sense, and those that only seem to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.sim.etcd.pairs.bases import BASES, NOWHERE, OTHER, TLS
from stateward.sim.etcd.pairs.cases import SAME, Case, Class, Mutate, drop, generated, put
from stateward.sim.etcd.pairs.schema import Path, properties, spec_schema
from stateward.sim.etcd.pairs.tables import EMBEDDED

_METADATA: Final = {"labels": {"tier": "gold"}, "annotations": {"who": "ops"}}
_CLAIM: Final = "storage.volumeClaimTemplate"

#: Values that make sense, for properties whose type does not tell one.
EXAMPLES: Final[Mapping[str, tuple[Any, ...]]] = {
    "replicas": (5,),
    "options": ({"snapshot-count": "5000"}, {"quota-backend-bytes": "4294967296"}),
    **{
        f"{template}.metadata.{name}": (value,)
        for template in ("podTemplate", "serviceTemplate", "podDisruptionBudgetTemplate", _CLAIM)
        for name, value in (
            *_METADATA.items(),
            ("name", "other"),
            ("namespace", "elsewhere"),
            ("finalizers", ["example.com/hold"]),
        )
    },
    **{f"headlessServiceTemplate.metadata.{name}": (it,) for name, it in _METADATA.items()},
    "headlessServiceTemplate.metadata.name": ("others",),
    "podTemplate.spec": ({"priorityClassName": "high"},),
    "serviceTemplate.spec": ({"sessionAffinity": "ClientIP"},),
    "podDisruptionBudgetTemplate.spec.minAvailable": (1, "50%"),
    "podDisruptionBudgetTemplate.spec.maxUnavailable": (1, "34%"),
    "storage.emptyDir.sizeLimit": ("2Gi", 3_000_000_000),
    f"{_CLAIM}.spec.accessModes": (["ReadWriteOncePod"],),
    f"{_CLAIM}.spec.resources.requests": ({"storage": "2Gi"}, {"storage": "512Mi"}),
    f"{_CLAIM}.spec.resources.limits": ({"storage": "8Gi"},),
    f"{_CLAIM}.spec.storageClassName": ("slow",),
    f"{_CLAIM}.spec.volumeName": ("theirs",),
    f"{_CLAIM}.spec.volumeAttributesClassName": ("gold",),
    f"{_CLAIM}.spec.selector": ({"matchLabels": {"disk": "fast"}},),
    f"{_CLAIM}.spec.dataSource": ({"kind": "PersistentVolumeClaim", "name": "old"},),
    f"{_CLAIM}.spec.dataSourceRef": ({"kind": "PersistentVolumeClaim", "name": "old"},),
    **{f"security.tls.{field}": (f"{name}{OTHER}",) for field, name in TLS.items()},
    "version": ("3.5.36", "3.6.16"),
    "unhealthyMemberGracePeriod": ("5m",),
    "quorumRecovery.survivor": ("shop-0",),
}


def _and(*steps: Mutate) -> Mutate:
    """Return what makes several changes at once."""

    def mutate(spec: Json) -> Json:
        for step in steps:
            spec = step(spec)
        return spec

    return mutate


def _pod(name: str, spec: Json, *, bad: bool = False) -> Case:
    kind = Class.INVALID if bad else Class.TYPICAL
    return Case(f"pod.{name}", "podTemplate.spec", kind, put(("podTemplate", "spec"), spec))


def _etcd(name: str, container: Json, *, bad: bool = False) -> Case:
    return _pod(name, {"containers": [{"name": "etcd"} | container]}, bad=bad)


def _service(name: str, spec: Json, *, bad: bool = False) -> Case:
    kind = Class.INVALID if bad else Class.TYPICAL
    path = ("serviceTemplate", "spec")
    return Case(f"service.{name}", "serviceTemplate.spec", kind, put(path, spec))


def _image(tag: str) -> Mutate:
    """Name an image, and no version beside it."""
    path = ("podTemplate", "spec")
    image = {"containers": [{"name": "etcd", "image": f"quay.io/coreos/etcd:{tag}"}]}
    return _and(drop(("version",)), put(path, image))


def _set(name: str, path: str, value: Any, kind: Class = Class.TYPICAL) -> Case:
    return Case(name, path, kind, put(_path(path), value))


def _path(text: str) -> Path:
    return tuple(text.split("."))


_SIZES: Final = tuple(_set(f"replicas.{n}", "replicas", n) for n in (1, 2, 4, 7))

_OPTIONS: Final = (
    _set("options.two", "options", {"snapshot-count": "5000", "log-level": "warn"}),
    _set("options.bare", "options", {"enable-pprof": ""}),
    _set("options.unknown", "options", {"no-such-flag": "1"}, Class.INVALID),
    _set("options.refused", "options", {"snapshot-count": "many"}, Class.INVALID),
    _set("options.owned", "options", {"data-dir": "/tmp/other"}, Class.INVALID),  # noqa: S108 - refused
    _set("options.dashes", "options", {"--snapshot-count": "1"}, Class.INVALID),
    _set("options.discovery", "options", {"discovery-srv": "it"}, Class.INVALID),
    _set("options.pace", "options", {"heartbeat-interval": "900"}, Class.INVALID),
    _set("options.newer", "options", {"watch-progress-notify-interval": "5m"}, Class.INVALID),
)

_VERSIONS: Final = (
    _set("version.down", "version", "3.5.34"),
    _set("version.stop", "version", "3.5.26"),
    _set("version.skip", "version", "3.7.0", Class.INVALID),
    _set("version.back", "version", "3.4.30", Class.INVALID),
    _set("version.words", "version", "latest", Class.INVALID),
    _set("version.four", "version", "4.0.0", Class.INVALID),
    Case("image.patch", "podTemplate.spec", Class.TYPICAL, _image("v3.5.36")),
    Case("image.minor", "podTemplate.spec", Class.TYPICAL, _image("v3.6.16")),
    Case("image.typo", "podTemplate.spec", Class.INVALID, _image("v3.5.36-typo")),
    Case("image.latest", "podTemplate.spec", Class.INVALID, _image("latest")),
    Case("image.old", "podTemplate.spec", Class.INVALID, _image("v3.4.30")),
    _etcd("image.other", {"image": "quay.io/coreos/etcd:v3.6.16"}, bad=True),
    _etcd("image.own", {"image": "registry.example.com/etcd:v3.5.35"}),
)

_SIDECAR: Final = {"name": "log", "image": "busybox:1.36", "command": ["sleep", "9999"]}
_NODE: Final = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}

_PODS: Final = (
    _etcd("resources", {"resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "2"}}}),
    _etcd("requests-over-limits", {
        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}, bad=True),
    _etcd("env", {"env": [{"name": "GOMAXPROCS", "value": "2"}]}),
    _etcd("env-flag", {"env": [{"name": "ETCD_LOG_LEVEL", "value": "warn"}]}),
    _etcd("env-owned", {"env": [{"name": "ETCD_DATA_DIR", "value": "/elsewhere"}]}, bad=True),
    _etcd("args", {"args": ["--name=me"]}, bad=True),
    _etcd("pull-policy", {"imagePullPolicy": "Always"}),
    _etcd("pull-policy-bad", {"imagePullPolicy": "Sometimes"}, bad=True),
    _etcd("probe", {"readinessProbe": {"periodSeconds": 3}}),
    _etcd("probe-bad", {"readinessProbe": {"periodSeconds": -1}}, bad=True),
    _etcd("mount-over", {
        "volumeMounts": [{"name": "more", "mountPath": "/var/run/etcd"}]}, bad=True),
    _etcd("removed", {"$patch": "delete"}, bad=True),
    _pod("sidecar", {"containers": [_SIDECAR]}),
    _pod("sidecar-env", {"containers": [_SIDECAR | {"env": [{"name": "A", "value": "b"}]}]}),
    _pod("sidecar-nameless", {"containers": [{"image": "busybox:1.36"}]}, bad=True),
    _pod("init", {"initContainers": [_SIDECAR | {"command": ["true"]}]}),
    _pod("affinity", {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE]}}}}),
    _pod("affinity-null", {"affinity": None}),
    _pod("tolerations", {"tolerations": [
        {"key": "db", "operator": "Equal", "value": "etcd", "effect": "NoSchedule"}]}),
    _pod("tolerations-bad", {"tolerations": [{"key": "db", "effect": "NoEntry"}]}, bad=True),
    _pod("spread", {"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway"}]}),
    _pod("security", {"securityContext": {"runAsUser": 1000, "fsGroup": 1000}}),
    _pod("grace", {"terminationGracePeriodSeconds": 60}),
    _pod("grace-bad", {"terminationGracePeriodSeconds": "long"}, bad=True),
    _pod("account", {"serviceAccountName": "etcd"}),
    _pod("node-selector", {"nodeSelector": {"disk": "ssd"}}),
    _pod("scheduler", {"schedulerName": "mine"}),
    _pod("host-network", {"hostNetwork": True}),
    _pod("hostname", {"hostname": "me"}, bad=True),
    _pod("restart-never", {"restartPolicy": "Never"}, bad=True),
    _pod("unknown", {"noSuchField": 1}, bad=True),
    _pod("volume", {"volumes": [{"name": "more", "emptyDir": {}}]}),
    _pod("volume-taken", {"volumes": [{"name": "data", "emptyDir": {}}]}, bad=True),
    _pod("no-containers", {"containers": None}, bad=True),
    _set("pod.labels-ours", "podTemplate.metadata.labels",
         {"app.kubernetes.io/instance": "another"}, Class.INVALID),
    _set("pod.labels-odd", "podTemplate.metadata.labels", {"no good!": "x"}, Class.INVALID),
)  # fmt: skip

_SERVICES: Final = (
    _service("node-port", {"type": "NodePort"}),
    _service("balancer", {"type": "LoadBalancer"}),
    _service("external", {"type": "ExternalName", "externalName": "a.example.com"}, bad=True),
    _service("kind-bad", {"type": "Sideways"}, bad=True),
    _service("port", {"ports": [{"name": "more", "port": 9999, "targetPort": 2379}]}),
    _service("port-bad", {"ports": [{"name": "more", "port": 99999}]}, bad=True),
    _service("selector", {"selector": {"extra": "yes"}}),
    _service("unknown", {"noSuchField": 1}, bad=True),
    _set("service.name-headless", "serviceTemplate.metadata.name", "shop-headless", Class.INVALID),
    _set("service.name-odd", "serviceTemplate.metadata.name", "9-lives", Class.INVALID),
    _set("budget.all-stay", "podDisruptionBudgetTemplate.spec.minAvailable", 3),
    _set("budget.too-many", "podDisruptionBudgetTemplate.spec.minAvailable", 4, Class.INVALID),
    _set("budget.too-much", "podDisruptionBudgetTemplate.spec.maxUnavailable", "101%",
         Class.INVALID),
    _set("budget.both", "podDisruptionBudgetTemplate.spec",
         {"minAvailable": 1, "maxUnavailable": 1}, Class.INVALID),
)  # fmt: skip


def _other_kind(spec: Json) -> Json:
    """Ask for folders instead of volumes, or the other way round."""
    kinds = {"emptyDir", "volumeClaimTemplate"} - set(spec["storage"])
    return spec | {"storage": {min(kinds): {}}}


def _both_kinds(spec: Json) -> Json:
    return spec | {"storage": {"emptyDir": {}, "volumeClaimTemplate": {}} | spec["storage"]}


_STORAGE: Final = (
    Case("storage.other", "storage", Class.INVALID, _other_kind),
    Case("storage.both", "storage", Class.INVALID, _both_kinds),
    Case("storage.default", "storage", Class.TYPICAL, put(("storage",), {})),
    _set("storage.mode-block", f"{_CLAIM}.spec.volumeMode", "Block", Class.INVALID),
    _set("storage.zero", f"{_CLAIM}.spec.resources.requests", {"storage": "0"}, Class.INVALID),
    _set("storage.sizeless", f"{_CLAIM}.spec.resources.requests", {"cpu": "1"}, Class.INVALID),
    _set("storage.labels-odd", f"{_CLAIM}.metadata.labels", {"no good!": "x"}, Class.INVALID),
)

_OURS: Final = (
    _set("grace.least", "unhealthyMemberGracePeriod", "1s", Class.LEAST),
    _set("grace.most", "unhealthyMemberGracePeriod", "24h", Class.MOST),
    _set("grace.short", "unhealthyMemberGracePeriod", "10ms", Class.INVALID),
    _set("grace.words", "unhealthyMemberGracePeriod", "soon", Class.INVALID),
    _set("recovery.approved", "quorumRecovery", {"acceptDataLoss": True}),
    Case("recovery.survivor", "quorumRecovery.survivor", Class.TYPICAL,
         put(("quorumRecovery",), {"acceptDataLoss": True, "survivor": "shop-1"})),
    _set("recovery.stranger", "quorumRecovery", {"acceptDataLoss": True, "survivor": "till-0"},
         Class.INVALID),
)  # fmt: skip

_TLS_PATH: Final = ("security", "tls")
_SECURITY: Final = (
    Case("tls.missing", "security.tls.serverTrustedCASecret", Class.INVALID,
         put((*_TLS_PATH, "serverTrustedCASecret"), NOWHERE)),
    Case("tls.missing-peer", "security.tls.peerTrustedCASecret", Class.INVALID,
         put((*_TLS_PATH, "peerTrustedCASecret"), NOWHERE)),
    Case("tls.missing-client", "security.tls.clientSecret", Class.INVALID,
         put((*_TLS_PATH, "clientSecret"), NOWHERE)),
    Case("tls.rotate", "security.tls", Class.TYPICAL,
         put(_TLS_PATH, {field: f"{name}{OTHER}" for field, name in TLS.items()})),
    Case("tls.anonymous", "security.tls", Class.TYPICAL,
         _and(drop((*_TLS_PATH, "clientSecret")), drop((*_TLS_PATH, "clientTrustedCASecret")))),
    Case("auth.anonymous", "security.enableAuth", Class.INVALID,
         _and(drop((*_TLS_PATH, "clientSecret")), drop((*_TLS_PATH, "clientTrustedCASecret")),
              put(("security", "enableAuth"), True))),  # noqa: FBT003 - a value
)  # fmt: skip

_NAMED: Final = (
    _STORAGE[2],
    Case("claim.nameless", f"{_CLAIM}.metadata.name", Class.DELETE,
         drop(_path(f"{_CLAIM}.metadata.name"))),
    Case("claim.classless", f"{_CLAIM}.spec.storageClassName", Class.DELETE,
         drop(_path(f"{_CLAIM}.spec.storageClassName"))),
    _set("claim.grow", f"{_CLAIM}.spec.resources.requests", {"storage": "2Gi"}),
    _set("claim.labels", f"{_CLAIM}.metadata.labels", {"tier": "gold"}),
)  # fmt: skip

#: A few of the others for bases that exist for the sake of some properties.
_SMALL: Final = (
    *_SIZES[:1],
    _set("replicas.5", "replicas", 5),
    _set("replicas.0", "replicas", 0),
    _set("options.snapshots", "options", {"snapshot-count": "5000"}),
    _set("paused", "paused", True),  # noqa: FBT003 - a value
)
#: What a base is for: properties that begin so, and cases of its own.
_ABOUT: Final[Mapping[str, tuple[str, tuple[Case, ...]]]] = {
    "S0": ("", (*_SIZES, *_OPTIONS, *_VERSIONS, *_PODS, *_SERVICES, *_STORAGE, *_OURS)),
    "tls": ("security", (*_SMALL, *_SECURITY)),
    "scratch": ("storage.emptyDir", (*_SMALL, *_STORAGE[:3])),
    "named": ("headlessServiceTemplate", (*_SMALL, *_NAMED)),
}


def cases_of(base: str) -> dict[str, Case]:
    """Return every case of a base by its name, the base itself first."""
    return {it.name: it for it in (SAME, *_cases(base))}


def _cases(base: str) -> Iterator[Case]:
    about, semantic = _ABOUT[base]
    every = properties(spec_schema(), EMBEDDED)
    mine = (it for it in every if str(it).startswith(about))
    yield from generated(mine, BASES[base].spec, EXAMPLES)
    yield from semantic
