"""Four clusters as users write them, and all documents that come of each."""

from __future__ import annotations

from typing import Any, Final

import yaml

from stateward.core.chance import Chance
from stateward.core.ports import Ports
from stateward.etcd.addresses import ClusterDns
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import headless_name, settings_of
from stateward.etcd.build import documents
from stateward.etcd.build.documents import Wanted
from stateward.etcd.build.pod import Outside
from stateward.etcd.build.workload import workload
from stateward.etcd.model.names import PEER_PORT, pod_name
from stateward.etcd.model.view import Config
from stateward.kube import drift
from stateward.kube.client import Apply
from stateward.kube.codec import Json, decode, encode, plain
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import NAMESPACES, STATEFUL_SETS
from stateward.local.api import Api
from stateward.local.rules.writes import Author, Strictness
from stateward.local.schema.served import served_api
from unit.local.pictures import Still

MINIMAL: Final = """
metadata: {name: tiny, namespace: shop, uid: 11111111-0000-4000-8000-000000000001}
spec: {}
"""

PRODUCTION: Final = """
metadata: {name: orders, namespace: shop, uid: 11111111-0000-4000-8000-000000000002}
spec:
  replicas: 5
  version: 3.5.21
  options: {auto-compaction-retention: 1h, pre-vote: "", election-timeout: "2000", max-wals: "3"}
  podTemplate:
    metadata:
      labels: {team: payments, app.kubernetes.io/name: not-etcd}
      annotations: {example.com/scrape: "true"}
    spec:
      priorityClassName: important
      nodeSelector: {disk: fast}
      securityContext: {runAsUser: 1000, runAsNonRoot: true, fsGroup: 1000}
      topologySpreadConstraints:
      - {topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
      containers:
      - name: etcd
        env: [{name: ETCD_QUOTA_BACKEND_BYTES, value: "8589934592"}]
        resources: {requests: {cpu: 1, memory: 1024Mi}, limits: {memory: 2Gi}}
      - name: courier
        image: example.com/courier:1
        resources: {requests: {cpu: 0.1}}
  serviceTemplate:
    metadata: {name: orders-clients, annotations: {example.com/zone: a}}
    spec:
      type: LoadBalancer
      ports: [{port: 2379, nodePort: 31000}]
  headlessServiceTemplate:
    metadata: {name: orders-members, labels: {team: payments}}
  podDisruptionBudgetTemplate:
    metadata: {labels: {team: payments}}
    spec: {maxUnavailable: 1}
  storage:
    volumeClaimTemplate:
      metadata: {name: wal, labels: {team: payments}, annotations: {example.com/keep: "7d"}}
      spec:
        storageClassName: fast
        resources: {requests: {storage: 20480Mi}}
"""

SECURE: Final = """
metadata: {name: vault, namespace: shop, uid: 11111111-0000-4000-8000-000000000003}
spec:
  podDisruptionBudgetTemplate: {}
  security:
    enableAuth: true
    tls:
      peerTrustedCASecret: peer-ca
      peerSecret: peer
      serverTrustedCASecret: server-ca
      serverSecret: server
      clientTrustedCASecret: client-ca
      clientSecret: client
"""

FLEETING: Final = """
metadata: {name: cache, namespace: shop, uid: 11111111-0000-4000-8000-000000000004}
spec:
  replicas: 1
  storage: {emptyDir: {sizeLimit: 1Gi, medium: Memory}}
  podTemplate: {spec: {containers: [{name: etcd, image: "registry.example.com/etcd:latest"}]}}
"""

EXAMPLES: Final = {
    "minimal": MINIMAL,
    "production": PRODUCTION,
    "secure": SECURE,
    "fleeting": FLEETING,
}

APPLIER: Final = "stateward-etcd"


def cluster(text: str, **spec: Any) -> EtcdCluster:
    """Read a manifest; more of its spec may be given."""
    document = yaml.safe_load(text)
    document["spec"] |= spec
    return decode(encode(document), EtcdCluster)


def outside(of: EtcdCluster, **ca_hashes: str) -> Outside:
    book = ClusterDns()
    return Outside(
        self_host=book.self_host(of.metadata.namespace, headless_name(of)),
        listen_host=book.listen_host(),
        ca_hashes=ca_hashes,
    )


def all_documents(of: EtcdCluster, *, start: int = 0) -> tuple[Wanted, ...]:
    """All objects of a cluster that has its full size."""
    size, book, service = of.spec.replicas, ClusterDns(), headless_name(of)
    names = [pod_name(of.metadata.name, ordinal) for ordinal in range(start, start + size)]
    hosts = [book.host(ObjectKey(of.metadata.namespace, name), service) for name in names]
    urls = (f"https://{host}:{PEER_PORT}" for host in hosts)
    hashes = {"peer-ca": "1", "client-ca": "2"} if of.spec.security.tls.peer_secret else {}
    members = workload(of, settings_of(of), outside(of, **hashes), replicas=size, start=start)
    return (
        *documents.around(of, voters=size, members=size),
        documents.variables(of, Config(tuple(zip(names, urls, strict=True)), existing=True)),
        Wanted(STATEFUL_SETS, drift.sealed(members)),
    )


def container(of: EtcdCluster) -> Json:
    """The container of etcd in the pods of a cluster."""
    spec = all_documents(of)[-1].document["spec"]["template"]["spec"]
    return next(it for it in spec["containers"] if it["name"] == "etcd")


def flags(of: EtcdCluster) -> list[str]:
    return container(of)["args"]


def api() -> Api:
    """An embedded API server in memory, with the namespace of the examples."""
    made = served_api(Ports(Still(), Chance(1)))
    made.create(NAMESPACES, "", {"metadata": {"name": "shop"}}, Author("us"))
    return made


def applied(to: Api, wanted: Wanted) -> tuple[Json, list[str]]:
    """What a server makes of a document, and what it warns of."""
    author = Author(APPLIER, strictness=Strictness.STRICT)
    patch = Apply(plain(wanted.document), APPLIER)
    stored = to.patch(wanted.resource, wanted.key, patch, author)
    return stored.document(), author.warnings
