"""The configuration files of a node's programs, as text. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.cluster import plan as places
from tools.cluster.papers import PROXY, kubeconfig
from tools.cluster.plan import Node, Plan

#: The image that holds the namespaces of a pod.
PAUSE = "stateward.test/pause:1"
#: What pods reach through their node.
_ELSEWHERE = (places.NETWORK, places.SERVICES, places.NETWORK6, places.SERVICES6)


def containerd(node: Node, plugins: Path) -> str:
    """Return the configuration of a node's containerd."""
    folder = node.folder
    return f"""version = 2
root = "{folder}/containerd"
state = "{folder}/state"
[grpc]
  address = "{node.socket}"
[ttrpc]
  address = "{node.socket}.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""


def network(node: Node) -> str:
    """Return how pods are plugged in: to each other and to services, and to nothing else."""
    bridge = {
        "type": "bridge",
        "bridge": places.POD_BRIDGE,
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": f"{node.folder}/addresses",
            "ranges": [[{"subnet": node.pods}], [{"subnet": node.pods6}]],
            "routes": [{"dst": it} for it in _ELSEWHERE],
        },
    }
    return json.dumps({"cniVersion": "1.0.0", "name": "stateward", "plugins": [bridge]})


def kubelet(plan: Plan, node: Node) -> str:
    """Return the configuration of a node's kubelet."""
    papers = plan.papers
    beat = max(1, plan.grace // 2)  # renewed four times in that time
    about: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": node.address,
        "port": 10250,
        "healthzBindAddress": "127.0.0.1",
        "readOnlyPort": 0,
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{node.cgroup}",
        "containerRuntimeEndpoint": f"unix://{node.socket}",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(papers / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(papers / f"{node.name}.crt"),
        "tlsPrivateKeyFile": str(papers / f"{node.name}.key"),
        "clusterDNS": [places.DNS_SERVICE],
        "clusterDomain": "cluster.local",
        "resolvConf": str(node.folder / "resolv.conf"),
        "makeIPTablesUtilChains": False,
        "oomScoreAdj": 0,
        "nodeLeaseDurationSeconds": beat,
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
        },
        "podLogsDir": str(node.folder / "pods"),
        "volumePluginDir": "/var/lib/kubelet/volumeplugins",
    }
    return json.dumps(about)


def proxy(plan: Plan, name: str, address: str, pods: str) -> str:
    """Return the configuration of a kube-proxy."""
    about: dict[str, Any] = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "bindAddress": address,
        "healthzBindAddress": f"{address}:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "clusterCIDR": pods,
        "hostnameOverride": name,
        "nodePortAddresses": [f"{address}/32"],
        "clientConnection": {"kubeconfig": str(kubeconfig(plan, PROXY))},
        # Of the machine, and not of a network namespace: left as they are.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }
    return json.dumps(about)
