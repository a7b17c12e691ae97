"""What the server itself decides of new objects: addresses, selectors, default classes.

Nobody owns these fields: no writer said them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from stateward.core.quantity import Quantity
from stateward.kube.codec import Json
from stateward.kube.errors import Forbidden, ServerFailed
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import PODS, SERVICES, VOLUME_CLAIMS
from stateward.local.catalog import STORAGE_CLASSES
from stateward.local.schema.builtin.pod_defaults import containers
from stateward.local.store import Store

#: The range of service addresses, without its first two parts and its last.
_NETWORK: Final = "10.96"
_SIX: Final = "fd00:96::"
_NODE_PORTS: Final = range(30_000, 32_768)
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_OLD_DEFAULT_CLASS: Final = "storageclass.beta.kubernetes.io/is-default-class"
_INTERNAL: Final = "internalTrafficPolicy"
_BATCH: Final = "batch.kubernetes.io/"


def decide_new(resource: str, document: Json, store: Store) -> None:
    """Add the server's own part to a new object."""
    match resource:
        case "pods":
            _decide_pod(document)
        case "services":
            _decide_service(document, None, store)
        case "jobs.batch":
            _decide_job(document)
        case "persistentvolumeclaims":
            _decide_claim(document, store)
            _hold(document["metadata"], "kubernetes.io/pvc-protection")
        case "persistentvolumes":
            _hold(document["metadata"], "kubernetes.io/pv-protection")
        case "namespaces":
            document.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])


def decide_changed(resource: str, old: Json, new: Json, store: Store) -> None:
    """Add the server's own part to a changed object: what was decided stays."""
    if resource == SERVICES.name:
        _decide_service(new, old, store)
    elif resource == PODS.name and "spec" in new:
        _tolerate(new["spec"])
    elif resource == VOLUME_CLAIMS.name:
        _check_growth(old, new, store)


# ------------------------------------------------------------------ pods
def _decide_pod(pod: Json) -> None:
    spec = pod.get("spec")
    if spec is None:
        return
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    account = spec.setdefault("serviceAccountName", "default")
    spec.setdefault("serviceAccount", account)
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    _tolerate(spec)
    pod.setdefault("status", {})["qosClass"] = quality(spec)


def _tolerate(spec: Json) -> None:
    """Let every pod bear a lost node for some minutes, unless it says otherwise."""
    tolerations = spec.setdefault("tolerations", [])
    for key in _TOLERATED:
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
            )


def _tolerates(toleration: Json, key: str) -> bool:
    named = toleration.get("key") == key or not toleration.get("key")
    return named and toleration.get("effect") in {None, "", "NoExecute"}


def quality(spec: Json) -> str:
    """Return the quality of service that a pod gets for what it asks."""
    all_said, any_said = True, False
    for container in containers(spec):
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        any_said = any_said or any(
            name in {"cpu", "memory"} and Quantity.parse(str(amount)).nano
            for name, amount in (*limits.items(), *requests.items())
        )
        all_said = all_said and all(
            name in limits and requests.get(name, limits[name]) == limits[name]
            for name in ("cpu", "memory")
        )
    if not any_said:
        return "BestEffort"
    return "Guaranteed" if all_said else "Burstable"


# ------------------------------------------------------------------ services
def _decide_service(new: Json, old: Json | None, store: Store) -> None:
    spec = new["spec"]
    if old is None:
        new.setdefault("status", {}).setdefault("loadBalancer", {})
    if spec.get("type") == "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", _INTERNAL):
            spec.pop(name, None)
        return
    was = (old or {}).get("spec") or {}
    _decide_address(spec, was, store)
    if spec["type"] == "ClusterIP":
        _leave_nodes(spec, was)
        return
    balanced = spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    if balanced or spec["type"] == "NodePort":
        _decide_ports(spec, was, store)


def _decide_address(spec: Json, was: Json, store: Store) -> None:
    address = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
    address = address or was.get("clusterIP") or _free_address(spec, store)
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    both = address == "None" and not spec.get("selector")
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if both else ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if both else "SingleStack")


def _leave_nodes(spec: Json, was: Json) -> None:
    """Drop what a service had on nodes; what somebody asks for anew stays, to be refused."""
    if was.get("type") not in {"NodePort", "LoadBalancer"}:
        return
    had = {port.get("nodePort") for port in was.get("ports") or ()}
    for port in spec.get("ports") or ():
        if port.get("nodePort") in had:
            port.pop("nodePort", None)
    for name in ("externalTrafficPolicy", "allocateLoadBalancerNodePorts"):
        spec.pop(name, None)


def _decide_ports(spec: Json, was: Json, store: Store) -> None:
    before = {(p.get("name"), p.get("port")): p.get("nodePort") for p in was.get("ports") or ()}
    taken: set[int] = set()
    for port in spec.get("ports") or ():
        if not port.get("nodePort") and (kept := before.get((port.get("name"), port.get("port")))):
            port["nodePort"] = kept
        if not port.get("nodePort"):
            taken = taken or _taken_ports(store) | {p.get("nodePort", 0) for p in spec["ports"]}
            port["nodePort"] = _first_free(_NODE_PORTS, taken, "node port")
            taken.add(port["nodePort"])


def _services(store: Store) -> Iterator[Json]:
    for stored in store.all(SERVICES.name):
        yield stored.document().get("spec") or {}


def _taken_ports(store: Store) -> set[int]:
    return {
        port["nodePort"]
        for spec in _services(store)
        for port in spec.get("ports") or ()
        if port.get("nodePort")
    }


def _free_address(asked: Json, store: Store) -> str:
    taken = {spec.get("clusterIP", "") for spec in _services(store)}
    # The first address is that of the API itself, the tenth of the name service.
    choices, what = range(11, 65_535), "service address"
    if next(iter(asked.get("ipFamilies") or ()), "") == "IPv6":
        six = {int(it.removeprefix(_SIX), 16) for it in taken if it.startswith(_SIX)}
        return f"{_SIX}{_first_free(choices, six, what):x}"
    numbers = {_number(address) for address in taken if address.startswith(f"{_NETWORK}.")}
    number = _first_free(choices, numbers, what)
    return f"{_NETWORK}.{number // 256}.{number % 256}"


def _number(address: str) -> int:
    *_, high, low = address.split(".")
    return int(high) * 256 + int(low)


def _first_free(choices: Iterable[int], taken: set[int], what: str) -> int:
    for choice in choices:
        if choice not in taken:
            return choice
    raise ServerFailed(f"no {what} is free: delete services that nobody needs")


# ------------------------------------------------------------------ jobs and claims
def _decide_job(job: Json) -> None:
    spec, meta = job["spec"], job["metadata"]
    if spec.get("manualSelector"):
        return
    mine = {"controller-uid": meta["uid"], "job-name": meta["name"]}
    labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
    for name, value in mine.items():
        labels[name] = labels[f"{_BATCH}{name}"] = value
    if not spec.get("selector"):
        spec["selector"] = {"matchLabels": {f"{_BATCH}controller-uid": meta["uid"]}}
    if not meta.get("labels"):
        meta["labels"] = dict(labels)


def _decide_claim(claim: Json, store: Store) -> None:
    spec = claim["spec"]
    if "storageClassName" in spec:
        return
    classes = [stored.document() for stored in store.all(STORAGE_CLASSES.name)]
    chosen = [one["metadata"] for one in classes if _is_default(one["metadata"])]
    if chosen:
        newest = max(chosen, key=lambda meta: (meta["creationTimestamp"], meta["name"]))
        spec["storageClassName"] = newest["name"]


def _hold(meta: Json, finalizer: str) -> None:
    """Keep what may be in use until somebody has seen that it is not."""
    held = meta.setdefault("finalizers", [])
    if finalizer not in held:
        held.append(finalizer)


def _check_growth(old: Json, new: Json, store: Store) -> None:
    """Raise Forbidden when a claim is to grow whose class does not let it."""
    bound = (old.get("status") or {}).get("phase") == "Bound"
    if not bound or _storage(new) <= _storage(old):
        return
    name = (old.get("spec") or {}).get("storageClassName", "")
    found = store.get(STORAGE_CLASSES.name, ObjectKey("", name)) if name else None
    if found is None or not found.document().get("allowVolumeExpansion"):
        raise Forbidden(
            f'persistentvolumeclaims "{old["metadata"]["name"]}" is forbidden: only dynamically'
            " provisioned pvc can be resized and the storageclass that provisions the pvc must"
            " support resize"
        )


def _storage(claim: Json) -> Quantity:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    return Quantity.parse(str(requests.get("storage", 0)))


def _is_default(meta: Json) -> bool:
    said = meta.get("annotations") or {}
    return "true" in {said.get(_DEFAULT_CLASS), said.get(_OLD_DEFAULT_CLASS)}
