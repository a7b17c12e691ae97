"""EtcdClusters as people write them: what is refused at the door, on what change, and what is fine."""

from __future__ import annotations

from typing import Any, NamedTuple

from stateward.kube.codec import Json


class Bad(NamedTuple):
    """A manifest that is refused, and words that the refusal must have."""

    title: str
    spec: Any
    says: str
    name: str = "shop"


class BadChange(NamedTuple):
    """A change of a cluster that is refused, and words that the refusal must have."""

    title: str
    was: Json
    patch: Json
    says: str
    #: What its status said before.
    status: Json | None = None


class Fine(NamedTuple):
    """A change of a cluster that is taken."""

    title: str
    was: Json
    patch: Json
    status: Json | None = None


def manifest(spec: Any, name: str = "shop") -> Json:
    return {
        "apiVersion": "etcd.aenix.io/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": name},
        "spec": spec,
    }


def says(whole: Any, part: Any) -> bool:
    """Tell whether a document says all that a part of it says."""
    if isinstance(part, dict):
        return all(name in whole and says(whole[name], value) for name, value in part.items())
    return bool(whole == part)


def claim(size: Any = "4Gi", **more: Any) -> Json:
    return {
        "storage": {
            "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": size}}, **more}}
        }
    }


def tls(*names: str, **more: Any) -> Json:
    return {"security": {"tls": dict.fromkeys(names, "a-secret"), **more}}


def budget(**spec: Any) -> Json:
    return {"podDisruptionBudgetTemplate": {"spec": spec}}


PEER = ("peerSecret", "peerTrustedCASecret")
CLIENT = ("clientSecret", "clientTrustedCASecret")
EMPTY: Json = {"storage": {"emptyDir": {}}}
SELF_SET = "the operator itself sets"
TOGETHER = "must be given together"
A_TIME = "must be a time from 1s to 24h"
OLDER = "cannot go back by a minor release"

BAD = (
    # ------------------------------------------------------------ names
    Bad("a name in capitals", {}, "metadata.name", name="Shop"),
    Bad("a name with a dot", {}, "metadata.name must be of a-z", name="a.shop"),
    Bad("a name that begins with a digit", {}, "begin with a letter", name="7shops"),
    Bad("a name of 41 characters", {}, "metadata.name", name="s" * 41),
    # ------------------------------------------------------------ unknown names, other types
    Bad("a spec that is a list", [], "spec"),
    Bad("a spec that is a text", "three", "spec"),
    Bad("a field that is none", {"replica": 3}, 'unknown field "spec.replica"'),
    Bad("a field inside tls that is none", {"security": {"tls": {"peerCA": "x"}}}, "peerCA"),
    Bad(
        "storage by its size alone",
        {"storage": {"size": "4Gi"}},
        'unknown field "spec.storage.size"',
    ),
    Bad("replicas as a text", {"replicas": "3"}, "spec.replicas"),
    Bad("replicas as a share", {"replicas": 2.5}, "spec.replicas"),
    Bad("options as a list", {"options": ["snapshot-count=1"]}, "spec.options"),
    Bad("the value of an option as a number", {"options": {"snapshot-count": 1}}, "snapshot-count"),
    Bad("paused as a text", {"paused": "yes"}, "spec.paused"),
    Bad("a pod template that is a text", {"podTemplate": "x"}, "spec.podTemplate"),
    Bad("a pod's spec that is a list", {"podTemplate": {"spec": []}}, "spec.podTemplate.spec"),
    Bad(
        "labels of a pod that are a list",
        {"podTemplate": {"metadata": {"labels": ["a"]}}},
        "labels",
    ),
    Bad("a label that is a number", {"podTemplate": {"metadata": {"labels": {"a": 1}}}}, "labels"),
    Bad("version as a number", {"version": 3.6}, "spec.version"),
    Bad(
        "the grace time as a number",
        {"unhealthyMemberGracePeriod": 60},
        "unhealthyMemberGracePeriod",
    ),
    # ------------------------------------------------------------ how many
    Bad("less than nobody", {"replicas": -1}, "spec.replicas"),
    Bad("2^31 members", {"replicas": 2**31}, "spec.replicas"),
    Bad("32 members", {"replicas": 32}, "spec.replicas"),
    Bad("asleep without volumes", {"replicas": 0, **EMPTY}, "all data would be lost"),
    # ------------------------------------------------------------ options
    *(
        Bad(f"the option {name}", {"options": {name: "x"}}, f"{SELF_SET} {name}")
        for name in (
            *("name", "data-dir", "wal-dir", "config-file", "force-new-cluster"),
            *("listen-peer-urls", "listen-client-urls", "listen-metrics-urls"),
            *("initial-cluster", "initial-cluster-state", "initial-cluster-token"),
            *("initial-advertise-peer-urls", "advertise-client-urls", "strict-reconfig-check"),
            *("auto-tls", "cert-file", "trusted-ca-file", "client-cert-auth"),
            *("peer-auto-tls", "peer-key-file", "peer-client-cert-auth", "enable-grpc-gateway"),
        )
    ),
    Bad("the option discovery-srv", {"options": {"discovery-srv": "x"}}, "discovery"),
    Bad("the option proxy", {"options": {"proxy": "on"}}, "proxy"),
    Bad("an option with its dashes", {"options": {"--metrics": "x"}}, "without its dashes"),
    Bad("an option that ends in a dash", {"options": {"metrics-": "x"}}, "without its dashes"),
    Bad("an option in capitals", {"options": {"Metrics": "x"}}, "without its dashes"),
    Bad("an option as a variable", {"options": {"ETCD_METRICS": "x"}}, "without its dashes"),
    Bad("an option with its value", {"options": {"metrics=basic": ""}}, "without its dashes"),
    Bad("an option without a name", {"options": {"": "x"}}, "without its dashes"),
    Bad("65 options", {"options": {f"a{n}": "" for n in range(65)}}, "spec.options"),
    # ------------------------------------------------------------ storage
    Bad(
        "both kinds of storage", {"storage": {"emptyDir": {}, "volumeClaimTemplate": {}}}, "either"
    ),
    Bad("a size of nothing", claim(0), "more than nothing"),
    Bad("a size below nothing", claim("-4Gi"), "more than nothing"),
    Bad("a size that is none", claim("lots"), "requests.storage"),
    Bad("a size with a blank", claim("4 Gi"), "requests.storage"),
    Bad(
        "requests that say no size",
        {"storage": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"cpu": 1}}}}}},
        "must say how much storage",
    ),
    Bad("one volume for all", claim(volumeName="mine"), "volume of its own"),
    Bad("a raw block device", claim(volumeMode="Block"), "volumeMode"),
    Bad("a mistyped class", claim(storageClas="fast"), "storageClas"),
    Bad("access modes as a text", claim(accessModes="ReadWriteOnce"), "accessModes"),
    Bad("an emptyDir on a drum", {"storage": {"emptyDir": {"medium": "Drum"}}}, "medium"),
    # ------------------------------------------------------------ certificates and logins
    Bad("peerSecret alone", tls("peerSecret"), TOGETHER),
    Bad("peerTrustedCASecret alone", tls("peerTrustedCASecret"), TOGETHER),
    Bad("clientSecret alone", tls("serverSecret", "clientSecret"), TOGETHER),
    Bad("clientTrustedCASecret alone", tls("serverSecret", "clientTrustedCASecret"), TOGETHER),
    Bad("the client pair alone", tls(*CLIENT), "clientSecret needs a serverSecret"),
    Bad("logins without certificates", {"security": {"enableAuth": True}}, "enableAuth needs"),
    Bad("logins without the operator's", tls("serverSecret", enableAuth=True), "enableAuth needs"),
    Bad("a secret in capitals", {"security": {"tls": {"serverSecret": "Mine"}}}, "serverSecret"),
    # ------------------------------------------------------------ budgets
    Bad("a budget with both", budget(minAvailable=1, maxUnavailable=1), "must not be given both"),
    Bad("a budget above all", budget(minAvailable=4), "must not be more than replicas"),
    Bad("a budget for more than all", budget(maxUnavailable=4), "must not be more than replicas"),
    Bad("a budget below nobody", budget(minAvailable=-1), "minAvailable"),
    Bad("a budget of 150%", budget(minAvailable="150%"), "from 0% to 100%"),
    Bad("a budget without its %", budget(maxUnavailable="2"), "from 0% to 100%"),
    Bad("a budget in words", budget(maxUnavailable="half"), "from 0% to 100%"),
    # ------------------------------------------------------------ versions
    Bad("the latest version", {"version": "latest"}, "three numbers"),
    Bad("a version with a v", {"version": "v3.6.1"}, "three numbers"),
    Bad("a minor version", {"version": "3.6"}, "three numbers"),
    Bad("a pre-release", {"version": "3.6.0-rc1"}, "three numbers"),
    Bad("etcd 3.4", {"version": "3.4.30"}, "must be 3.5.0 or a later one"),
    Bad("etcd 4", {"version": "4.0.0"}, "must be 3.5.0 or a later one"),
    # ------------------------------------------------------------ times and recovery
    Bad("a grace time in words", {"unhealthyMemberGracePeriod": "soon"}, A_TIME),
    Bad("a grace time without a unit", {"unhealthyMemberGracePeriod": "60"}, A_TIME),
    Bad("no grace time", {"unhealthyMemberGracePeriod": "0s"}, A_TIME),
    Bad("a grace time of two days", {"unhealthyMemberGracePeriod": "48h"}, A_TIME),
    Bad("a grace time below zero", {"unhealthyMemberGracePeriod": "-5s"}, A_TIME),
    Bad("recovery without a word", {"quorumRecovery": {}}, "acceptDataLoss must be true"),
    Bad(
        "recovery from another's member",
        {"quorumRecovery": {"acceptDataLoss": True, "survivor": "cafe-0"}},
        "survivor must be best or one of the members",
    ),
    Bad(
        "recovery from a member by its number",
        {"quorumRecovery": {"acceptDataLoss": True, "survivor": "0"}},
        "survivor must be best or one of the members",
    ),
)

NOTHING: Json = {"storage": {}}
KEPT = "volumeClaimTemplate cannot be taken back"
GIVEN = "volumeClaimTemplate must keep what members got without it"

BAD_CHANGES = (
    BadChange("storage shrinks", claim("8Gi"), claim("4Gi"), "cannot shrink"),
    BadChange("storage shrinks to a default", claim("8Gi"), {"storage": None}, "cannot shrink"),
    BadChange("storage shrinks in another unit", claim("4Gi"), claim("4G"), "cannot shrink"),
    BadChange(
        "a claim is forgotten", claim("8Gi"), {"storage": {"volumeClaimTemplate": None}}, KEPT
    ),
    BadChange("a claim is remembered smaller", NOTHING, claim("1Gi"), GIVEN),
    BadChange("a claim is remembered with a class", NOTHING, claim(storageClassName="b"), GIVEN),
    BadChange(
        "a claim is remembered under a name",
        NOTHING,
        {"storage": {"volumeClaimTemplate": {"metadata": {"name": "disk"}}}},
        GIVEN,
    ),
    BadChange(
        "volumes become folders",
        claim(),
        {"storage": {"emptyDir": {}, "volumeClaimTemplate": None}},
        "kind of storage cannot be changed",
    ),
    BadChange(
        "folders become volumes",
        EMPTY,
        {"storage": {"emptyDir": None, "volumeClaimTemplate": {}}},
        "kind of storage cannot be changed",
    ),
    BadChange(
        "another class",
        claim(storageClassName="a"),
        claim(storageClassName="b"),
        "storageClassName",
    ),
    BadChange("a class is added", claim(), claim(storageClassName="b"), "storageClassName"),
    BadChange("other access modes", claim(), claim(accessModes=["ReadWriteMany"]), "accessModes"),
    BadChange(
        "another name of the claim",
        claim(),
        {"storage": {"volumeClaimTemplate": {"metadata": {"name": "disk"}}}},
        "the name of a claim cannot be changed",
    ),
    BadChange("peers get certificates", {}, tls(*PEER), "peerSecret cannot be added"),
    BadChange("peers lose them", tls(*PEER), {"security": None}, "peerSecret cannot be added"),
    BadChange("members get certificates", {}, tls("serverSecret"), "serverSecret cannot be added"),
    BadChange(
        "the members' service is renamed",
        {"headlessServiceTemplate": {"metadata": {"name": "one"}}},
        {"headlessServiceTemplate": {"metadata": {"name": "two"}}},
        "headless service cannot be renamed",
    ),
    BadChange("members lose them", tls("serverSecret"), {"security": None}, "serverSecret cannot"),
    BadChange("folders go to sleep", EMPTY, {"replicas": 0}, "all data would be lost"),
    BadChange("a minor back", {"version": "3.6.1"}, {"version": "3.5.30"}, OLDER),
    BadChange("two minors up", {"version": "3.5.30"}, {"version": "3.7.0"}, "one minor release"),
    BadChange("3.6 too early", {"version": "3.5.10"}, {"version": "3.6.0"}, "3.5.26 or later"),
    BadChange(
        "a version behind what runs", {}, {"version": "3.5.30"}, OLDER, status={"version": "3.6.16"}
    ),
    BadChange(
        "two minors above what runs",
        {"version": "3.6.1"},
        {"version": "3.7.0"},
        "one minor release",
        status={"version": "3.5.30"},
    ),
    BadChange(
        "a budget left behind",
        {"replicas": 5, **budget(minAvailable=4)},
        {"replicas": 3},
        "replicas",
    ),
)

FINE_CHANGES = (
    Fine("storage grows", claim("4Gi"), claim("8Gi")),
    Fine("the same size in other words", claim("4Gi"), claim("4096Mi")),
    Fine("another secret", tls("serverSecret"), {"security": {"tls": {"serverSecret": "other"}}}),
    Fine("clients must show certificates now", tls("serverSecret"), tls("serverSecret", *CLIENT)),
    Fine("a patch back", {"version": "3.5.30"}, {"version": "3.5.27"}),
    Fine("one minor up", {"version": "3.5.26"}, {"version": "3.6.0"}),
    Fine("a version is named", {}, {"version": "3.5.30"}),
    Fine("a version is no longer named", {"version": "3.6.1"}, {"version": None}),
    Fine(
        "an upgrade is taken back while a member still runs the old version",
        {"version": "3.6.1"},
        {"version": "3.5.30"},
        status={"version": "3.5.30"},
    ),
    Fine("asleep, with a budget", budget(minAvailable=2), {"replicas": 0}),
    Fine("awake", {"replicas": 0}, {"replicas": 3}),
    Fine("volumes shall stay", {}, {"retainVolumesOnDelete": True}),
)

#: As they are written for the compatible operator; taken unchanged.
COMPATIBLE: dict[str, Json] = {
    "no more than storage": {"storage": {}},
    "a size and a class": {
        "replicas": 3,
        "storage": {
            "volumeClaimTemplate": {
                "metadata": {"name": "data", "labels": {"team": "a"}},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "standard",
                    "resources": {"requests": {"storage": "10Gi"}},
                },
            }
        },
    },
    "an emptyDir": {
        "replicas": 1,
        "storage": {"emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}},
    },
    "options": {
        "options": {
            "auto-compaction-mode": "periodic",
            "snapshot-count": "5000",
            "pre-vote": "",
            "quota-backend-bytes": "4294967296",
        },
        "storage": {"emptyDir": {}},
    },
    "every template": {
        "replicas": 3,
        "storage": {"volumeClaimTemplate": {}},
        "podTemplate": {
            "metadata": {"labels": {"env": "prod"}, "annotations": {"a/b": "c"}},
            "spec": {
                "serviceAccountName": "etcd",
                "containers": [
                    {
                        "name": "etcd",
                        "image": "quay.io/coreos/etcd:v3.5.12",
                        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}},
                    },
                    {"name": "beside", "image": "busybox", "command": ["sleep", "1h"]},
                ],
                "nodeSelector": {"kind": "fast"},
                "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
            },
        },
        "serviceTemplate": {
            "metadata": {"name": "client", "annotations": {"a": "b"}},
            "spec": {"type": "LoadBalancer", "ports": [{"name": "client", "port": 2379}]},
        },
        "headlessServiceTemplate": {"metadata": {"name": "peers", "labels": {"a": "b"}}},
        "podDisruptionBudgetTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"maxUnavailable": "34%"},
        },
    },
    "all certificates, and logins": {
        "storage": {"emptyDir": {}},
        "podDisruptionBudgetTemplate": {},
        "security": {
            "enableAuth": True,
            "tls": {
                "peerTrustedCASecret": "ca-peer",
                "peerSecret": "peer",
                "serverTrustedCASecret": "ca-server",
                "serverSecret": "server",
                "clientTrustedCASecret": "ca-client",
                "clientSecret": "client",
            },
        },
    },
}
