"""How the embedded Kubernetes differs from a real one: said by `stateward local differences`.

What is not named here is meant to be the same, and is held to a real kube-apiserver by the contract
suite as far as that reaches.
"""

from __future__ import annotations

from typing import Final

DIFFERENCES: Final[dict[str, tuple[str, ...]]] = {
    "Containers": (
        "A container is a group of processes of your own user: no image is fetched, an image name"
        " stands for a program of this machine, and one that stands for none is refused with a list"
        " of those that do.",
        "There are no cgroups, namespaces, users or security contexts: limits, capabilities and"
        " read-only file systems are stored and not enforced.",
        "A volume is a folder somewhere else than its mount path; the path is replaced where it"
        " appears in command, args and env, and nowhere inside programs.",
        "exec, attach, port-forward, cp and ephemeral containers are not offered.",
    ),
    "Network": (
        "Every pod has a loopback address (127.x.y.z) of its own, the same after a restart. A"
        " program that binds to 0.0.0.0 takes the port on all of them.",
        "Names of services and pods do not resolve, and a service address leads nowhere: take pod"
        " addresses from EndpointSlices.",
        "NetworkPolicies, Ingresses and load balancers do not exist.",
    ),
    "API server": (
        "One process, one user: whoever has the token may do everything. Roles and bindings are"
        " stored and ask nobody.",
        "Kinds beyond those of `kubectl api-resources` are not served, and webhooks, aggregation"
        " and conversion between versions of a custom kind (other than None) do not exist.",
        "Schemas of built-in kinds carry no prose, so `kubectl explain` shows fields and types only.",
        "Only JSON and YAML are spoken, not protobuf.",
    ),
    "Scheduling": (
        "There is no preemption: priority classes change nothing.",
        "All nodes are this machine; their capacity is what `local up` says it is.",
    ),
    "Data": (
        "With --data every change is written before it is acknowledged and survives a kill; a power"
        " cut may cost the last second.",
    ),
}
