"""What careless people write into specs and statuses must not cost data. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fakes.etcd_views import picture
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.api.status import KnownMember
from stateward.etcd.api.validation import problems
from stateward.etcd.build.kept import kept_problems
from stateward.etcd.decide.chart import judge
from stateward.etcd.decide.moves import WriteWorkload
from stateward.etcd.tell.status import status_of

ETCD = {"name": "etcd"}
SCRATCH = [{"name": "scratch", "emptyDir": {}}]
HOME = "/var/run/etcd"
OURS = {"configMapRef": {"name": "shop-cluster-state"}}
MINE = {"configMapRef": {"name": "mine"}}


def wrong_with(pod: dict[str, Any], **options: str) -> list[str]:
    spec = {"podTemplate": {"spec": pod}, "options": options}
    body = {"metadata": {"name": "shop"}, "spec": spec}
    cluster = msgspec.convert(body, EtcdCluster)
    return list(map(str, problems(cluster) or kept_problems(cluster, settings_of(cluster))))


def etcd(**fields: Any) -> dict[str, Any]:
    return {"containers": [ETCD | fields]}


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (etcd(envFrom=[{"secretRef": {"name": "mine"}}]), "envFrom: must keep"),
        (etcd(envFrom=[]), "envFrom: must keep"),
        (etcd(envFrom=[MINE]), "write {configMapRef: {name: shop-cluster-state}} as its last entry"),
        (etcd(envFrom=[OURS, MINE]), "envFrom: must end with the operator's entry for shop-cluster-state"),
        (etcd(envFrom=[OURS, MINE | {"prefix": "ETCD_"}]), "as its last entry"),
        (etcd(envFrom=[MINE, OURS | {"prefix": "X_"}]), "envFrom: must keep"),
        (etcd(args=[]), "args: must keep"),
        (etcd(args=None), "args: must keep"),
        (etcd(env=None), "entry for POD_NAME"),
        (etcd(env=[{"name": "POD_NAME", "value": "x"}]), "entry for POD_NAME"),
        (etcd(volumeMounts=None), f"entry for {HOME}"),
        (etcd(volumeMounts=[{"$patch": "replace"}]), f"entry for {HOME}"),
        (etcd(volumeMounts=[{"$patch": "delete", "mountPath": HOME}]), f"entry for {HOME}"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": HOME}]), f"entry for {HOME}"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": f"{HOME}/default.etcd"}]), "must mount nothing at"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": "/var"}]), "must mount nothing at"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": "/var/x/../run/etcd/default.etcd"}]), "must mount nothing at /var/x/.."),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": f"{HOME}/"}]), f"must mount nothing at {HOME}/"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": f"/{HOME}"}]), f"must mount nothing at /{HOME}"),
        ({"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": "var/run"}]), "must mount nothing at var/run"),
        ({"containers": [{"name": "etcd", "$patch": "replace", "image": "x"}]}, "must keep the container etcd"),
        (etcd(**{"$retainKeys": ["name"]}), "args: must keep"),
        ({"$retainKeys": ["volumes"]}, "containers"),
    ],
    ids=str,
)  # fmt: skip
def test_a_pod_template_cannot_take_a_members_data_or_variables(
    pod: dict[str, Any], words: str
) -> None:
    found = wrong_with(pod)
    assert any(words in it for it in found), found


@pytest.mark.parametrize(
    "pod",
    [
        {},
        etcd(image="registry.example/etcd:v3.6.16", resources={"limits": {"memory": "2Gi"}}),
        etcd(env=[{"name": "GOGC", "value": "50"}]),
        etcd(env=[{"name": "ETCD_AUTO_COMPACTION_MODE", "value": "revision"}]),
        etcd(envFrom=[MINE, {"secretRef": {"name": "more"}, "prefix": "X_"}, OURS]),
        {"volumes": SCRATCH}
        | etcd(volumeMounts=[{"name": "scratch", "mountPath": f"{HOME}/../x"}]),
        {"volumes": SCRATCH} | etcd(volumeMounts=[{"name": "scratch", "mountPath": "/backup"}]),
        {"containers": [{"name": "beside", "image": "busybox"}], "nodeSelector": {"disk": "fast"}},
        {"initContainers": [{"name": "first", "image": "busybox"}]},
    ],
    ids=str,
)
def test_what_a_pod_template_may_say(pod: dict[str, Any]) -> None:
    assert wrong_with(pod) == []


def test_a_flag_is_not_given_as_option_and_as_variable() -> None:
    pod = etcd(env=[{"name": "ETCD_MAX_TXN_OPS", "value": "9"}])
    assert wrong_with(pod) == wrong_with(pod, **{"max-wals": "3"}) == []
    [found] = wrong_with(pod, **{"max-txn-ops": "9"})
    assert "must not set ETCD_MAX_TXN_OPS beside spec.options.max-txn-ops: etcd does not" in found


def test_nothing_is_kept_of_what_pods_of_an_earlier_cluster_say() -> None:
    view = picture("3: L f f", latched=False, last_known=())
    assert view.workload is not None
    view = replace(view, workload=replace(view.workload, owner_uid="earlier", deleting=True))
    status = status_of(view, [], judge(view).refusals)
    assert (status.cluster_id, status.last_known_members, status.revision) == ("", (), 0)


@pytest.mark.parametrize("names", [["shop-0", "shop-400"], ["shop-999999"]])
def test_a_status_by_hand_makes_no_hundreds_of_pods(names: list[str]) -> None:
    view = picture("3: d d d", quorum=False)
    known = tuple(KnownMember(name=it) for it in names)
    status = msgspec.structs.replace(view.cluster.status, last_known_members=known)
    view = replace(view, cluster=msgspec.structs.replace(view.cluster, status=status))
    move = judge(view).move
    assert not (isinstance(move, WriteWorkload) and move.replicas > 31), move
