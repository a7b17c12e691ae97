"""Where a pod may go, where it may not and why, and where it goes: tables of small pictures.

A node is ``name/zone``; a pod on it is drawn behind it: ``n1/z1: web db``.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey
from stateward.local.controllers.matching import covers, matches_term
from stateward.local.documents import Document
from stateward.local.scheduler.decision import Place, Prepare, Refuse, decide
from stateward.local.scheduler.filters import refusals
from stateward.local.scheduler.picture import Picture, Reason, Station
from stateward.local.scheduler.views import NodeView, PodView, node_view, pod_view, requests_of
from stateward.local.scheduler.volumes import Bound, Impossible, Late
from unit.local.controllers.cluster.cluster import pod as manifest

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
THREE = "n1/z1: | n2/z2: | n3/z3:"


def read(document: Json) -> Document:
    return msgspec.json.decode(msgspec.json.encode(document), type=Document)


def a_pod(name: str = "new", **parts: Any) -> PodView:
    return pod_view(read(manifest(name, **parts)))


def a_node(name: str, zone: str = "z1", has: Json | None = None, **spec: Any) -> NodeView:
    labels = {HOST: name, ZONE: zone}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"} | (has or {})}
    return node_view(
        read({"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status})
    )


def cluster(drawing: str, **parts: Any) -> Picture:
    """Read ``n1/z1: web db | n2/z2:``; pods have the label ``app`` and what ``parts`` says of them."""
    stations = []
    for column in drawing.split("|"):
        where, _, names = column.strip().partition(":")
        name, _, zone = where.partition("/")
        pods = [
            a_pod(
                f"{app}-{name}-{number}", labels={"app": app}, nodeName=name, **parts.get(app, {})
            )
            for number, app in enumerate(names.split())
        ]
        stations.append(Station(a_node(name, zone), pods))
    return Picture(tuple(stations))


def near(app: str, key: str = HOST, weight: int = 0) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    if weight:
        return {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": weight, "podAffinityTerm": term}
            ]
        }
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def spread(app: str = "web", key: str = ZONE, skew: int = 1, **more: Any) -> list[Json]:
    constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"}
    return [constraint | {"labelSelector": {"matchLabels": {"app": app}}} | more]


def on_nodes(*names: str) -> Json:
    expression = {"key": "metadata.name", "operator": "In", "values": list(names)}
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [expression]}]
        }
    }


# ------------------------------------------------------------------ who will do
@pytest.mark.parametrize(
    ("drawing", "wants", "good"),
    [
        (THREE, {}, "n1 n2 n3"),
        (THREE, {"nodeSelector": {ZONE: "z2"}}, "n2"),
        (THREE, {"affinity": {"nodeAffinity": on_nodes("n1", "n3")}}, "n1 n3"),
        # near and far
        ("n1/z1: web | n2/z2:", {"affinity": {"podAffinity": near("web")}}, "n1"),
        ("n1/z1: web | n2/z1: | n3/z2:", {"affinity": {"podAffinity": near("web", ZONE)}}, "n1 n2"),
        (
            "n1/z1: web | n2/z1: | n3/z2:",
            {"affinity": {"podAntiAffinity": near("web", ZONE)}},
            "n3",
        ),
        ("n1/z1: | n2/z2:", {"affinity": {"podAffinity": near("web")}}, ""),
        (
            "n1/z1: | n2/z2:",
            {"affinity": {"podAffinity": near("web")}, "labels": {"app": "web"}},
            "n1 n2",
        ),
        # evenly
        (
            "n1/z1: web | n2/z2:",
            {"topologySpreadConstraints": spread(), "labels": {"app": "web"}},
            "n2",
        ),
        ("n1/z1: web | n2/z2:", {"topologySpreadConstraints": spread()}, "n1 n2"),
        (
            "n1/z1: web web | n2/z2:",
            {"topologySpreadConstraints": spread(skew=2), "labels": {"app": "web"}},
            "n2",
        ),
        (
            "n1/z1: web | n2/z2: web",
            {"topologySpreadConstraints": spread(minDomains=3), "labels": {"app": "web"}},
            "",
        ),
        (
            "n1/z1: web | n2/z2: ",
            {
                "topologySpreadConstraints": spread(),
                "labels": {"app": "web"},
                "nodeSelector": {ZONE: "z1"},
            },
            "n1",
        ),
        (
            "n1/z1: web | n2/z2: ",
            {
                "topologySpreadConstraints": spread(whenUnsatisfiable="ScheduleAnyway"),
                "labels": {"app": "web"},
            },
            "n1 n2",
        ),
    ],
)
def test_who_will_do(drawing: str, wants: Json, good: str) -> None:
    found, _ = refusals(a_pod(**wants), cluster(drawing))

    assert " ".join(it.node.name for it in found) == good


def test_pods_that_are_there_keep_others_away() -> None:
    shy = {"affinity": {"podAntiAffinity": near("loud", ZONE)}}
    picture = cluster("n1/z1: shy | n2/z1: | n3/z2:", shy=shy)

    found, why = refusals(a_pod(labels={"app": "loud"}), picture)

    assert [it.node.name for it in found] == ["n3"]
    assert why == [(Reason("node(s) didn't satisfy existing pods anti-affinity rules", True),)] * 2


def test_the_namespace_counts_unless_another_is_named() -> None:
    term = near("web")["requiredDuringSchedulingIgnoredDuringExecution"][0]
    picture = cluster("n1/z1: web | n2/z2:")
    for more, good in (
        ({}, 1),
        ({"namespaces": ["elsewhere"]}, 0),
        ({"namespaces": ["shop", "elsewhere"]}, 1),
        ({"namespaceSelector": {}}, 1),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, 0),
    ):
        affinity = {
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term | more]}
        }
        assert len(refusals(a_pod(affinity=affinity), picture)[0]) == good, more
    chosen = Picture(picture.stations, {"shop": {"team": "a"}})
    assert len(refusals(a_pod(affinity=affinity), chosen)[0]) == 1


# ------------------------------------------------------------------ why not
HOPELESS = "3 Preemption is not helpful for scheduling"


def nobody(why: str, ends: str) -> str:
    head = "0/3 nodes are available: "
    return f"{head}{why}. no new claims to deallocate, preemption: {head}{ends}."


DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("node", "wants", "why"),
    [
        (a_node("n"), {}, ""),
        (a_node("n", unschedulable=True), {}, "node(s) were unschedulable"),
        (a_node("n", unschedulable=True), {"tolerations": [{"operator": "Exists"}]}, ""),
        (a_node("n", taints=[DEDICATED]), {}, "node(s) had untolerated taint(s)"),
        (
            a_node("n", taints=[DEDICATED | {"effect": "NoExecute", "value": ""}]),
            {},
            "node(s) had untolerated taint(s)",
        ),
        (a_node("n", taints=[DEDICATED | {"effect": "PreferNoSchedule"}]), {}, ""),
        (
            a_node("n", taints=[DEDICATED]),
            {"tolerations": [{"key": "dedicated", "value": "gpu"}]},
            "",
        ),
        (
            a_node("n"),
            {"nodeSelector": {"disk": "ssd"}},
            "node(s) didn't match Pod's node affinity/selector",
        ),
        (a_node("n"), {"cpu": "5"}, "Insufficient cpu"),
        (a_node("n", has={"pods": "0"}), {"cpu": "5"}, "Too many pods, Insufficient cpu"),
        (a_node("n"), {"cpu": "4"}, ""),
        (
            a_node("n"),
            {"topologySpreadConstraints": spread(key="rack")},
            "node(s) didn't match pod topology spread constraints (missing required label)",
        ),
    ],
)
def test_why_a_node_will_not_do(node: NodeView, wants: Json, why: str) -> None:
    _, refused = refusals(a_pod(**wants), Picture((Station(node),)))

    assert ", ".join(it.text for reasons in refused for it in reasons) == why


def port(number: int, **more: Any) -> list[Json]:
    return [
        {
            "name": "main",
            "image": "web",
            "ports": [{"containerPort": 1, "hostPort": number, **more}],
        }
    ]


@pytest.mark.parametrize(
    ("theirs", "mine", "free"),
    [
        (port(80), port(80), False),
        (port(80), port(81), True),
        (port(80), port(80, protocol="UDP"), True),
        (port(80, hostIP="127.0.0.1"), port(80, hostIP="127.0.0.2"), True),
        (port(80, hostIP="127.0.0.1"), port(80), False),
    ],
)
def test_ports_of_the_machine(theirs: Any, mine: Any, free: bool) -> None:
    picture = cluster("n1/z1: web", web={"containers": theirs})

    assert bool(refusals(a_pod(containers=mine), picture)[0]) is free


def test_what_is_bound_counts_and_what_has_finished_does_not() -> None:
    running, finished = (a_pod(name, cpu="3", nodeName="n") for name in "ab")
    node = a_node("n")
    assert not refusals(a_pod(cpu="2"), Picture((Station(node, [running]),)))[0]
    done = pod_view(read(manifest("b", cpu="3", nodeName="n") | {"status": {"phase": "Succeeded"}}))
    assert refusals(a_pod(cpu="2"), Picture((Station(node, [done]),)))[0]
    assert finished.requests == running.requests


def test_the_message_that_people_know() -> None:
    stations = (
        Station(a_node("n1", taints=[DEDICATED])),
        Station(a_node("n2", has={"cpu": "1"})),
        Station(a_node("n3", has={"cpu": "1"})),
    )

    assert decide(a_pod(cpu="2"), Picture(stations)) == Refuse(
        nobody("1 node(s) had untolerated taint(s), 2 Insufficient cpu", HOPELESS)
    )


def test_the_message_counts_where_it_would_help_if_others_were_gone() -> None:
    stations = (
        Station(a_node("n1"), [a_pod("other", cpu="3")]),
        Station(a_node("n2", has={"cpu": "1"})),
        Station(a_node("n3"), [a_pod("another", cpu="4")]),
    )

    ends = (
        "1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod"
    )
    assert decide(a_pod(cpu="2"), Picture(stations)) == Refuse(nobody("3 Insufficient cpu", ends))


def test_nodes_that_are_not_named_are_not_looked_at() -> None:
    wants = a_pod(cpu="5", affinity={"nodeAffinity": on_nodes("n2")})
    why = "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"

    assert decide(wants, cluster(THREE)) == Refuse(nobody(why, HOPELESS))


# ------------------------------------------------------------------ which is best
@pytest.mark.parametrize(
    ("drawing", "wants", "node"),
    [
        (THREE, {}, "n1"),
        ("n1/z1: web | n2/z2:", {}, "n2"),
        ("n1/z1: big | n2/z2: web web", {}, "n2"),
        ("n1/z1: web | n2/z2:", {"affinity": {"podAffinity": near("web", weight=10)}}, "n1"),
        (
            "n1/z1: | n2/z1: | n3/z1: web",
            {"affinity": {"podAffinity": near("web", weight=10)}},
            "n3",
        ),
        ("n1/z1: web | n2/z2:", {"affinity": {"podAntiAffinity": near("web", weight=10)}}, "n2"),
        (
            "n1/z1: web | n2/z1: | n3/z2:",
            {
                "topologySpreadConstraints": spread(whenUnsatisfiable="ScheduleAnyway"),
                "labels": {"app": "web"},
            },
            "n3",
        ),
    ],
)
def test_which_is_best(drawing: str, wants: Json, node: str) -> None:
    picture = cluster(drawing, big={"cpu": "3"})

    assert decide(a_pod(**wants), picture) == Place(node)


def test_a_preferred_node_and_one_without_soft_taints() -> None:
    soft = {"key": "slow", "effect": "PreferNoSchedule"}
    stations = (
        Station(a_node("n1", taints=[soft])),
        Station(a_node("n2")),
        Station(a_node("n3", "z3")),
    )
    picture = Picture(stations)
    assert decide(a_pod(), picture) == Place("n2")
    expression = {"key": ZONE, "operator": "In", "values": ["z3"]}
    wish = {"weight": 50, "preference": {"matchExpressions": [expression]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
    assert decide(a_pod(affinity=affinity), picture) == Place("n3")


def test_siblings_are_spread_over_zones_as_a_matter_of_course() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u"}
    there = {"owner": owner}
    picture = cluster("n1/z1: web other | n2/z1: | n3/z2: other other", web=there)

    assert decide(a_pod(owner=owner), picture) == Place("n3")


# ------------------------------------------------------------------ volumes
def test_where_volumes_were_made_the_pod_goes_while_it_can() -> None:
    picture = Picture(cluster(THREE).stations, {}, (Bound(()),))

    assert decide(a_pod(), picture, prepared="n3") == Place("n3")
    assert decide(a_pod(), picture, prepared="gone") == Place("n1")


TIED = ({"matchExpressions": [{"key": HOST, "operator": "In", "values": ["n2"]}]},)
DATA, MORE = ObjectKey("shop", "data"), ObjectKey("shop", "more")


@pytest.mark.parametrize(
    ("wishes", "decision"),
    [
        ((Bound(()),), Place("n1")),
        ((Bound(TIED),), Place("n2")),
        ((Late(DATA, (), can_be_made=True),), Prepare("n1", (DATA,))),
        ((Late(DATA, (("one", TIED),), can_be_made=False),), Prepare("n2", (DATA,))),
        ((Late(DATA, (), can_be_made=True, selected_node="n3"),), Prepare("n3", (DATA,))),
        (
            (Impossible("it is not there"),),
            Refuse("0/3 nodes are available: it is not there. not found"),
        ),
        (
            (Late(DATA, (), can_be_made=False),),
            Refuse(nobody("3 node(s) didn't find available persistent volumes to bind", HOPELESS)),
        ),
        (
            (
                Late(DATA, (("one", ()),), can_be_made=False),
                Late(MORE, (("one", ()), ("two", TIED)), can_be_made=False),
            ),
            Prepare("n2", (DATA, MORE)),
        ),
        (
            (Bound(TIED), Bound(({"matchFields": []},))),
            Refuse(nobody("3 node(s) didn't match PersistentVolume's node affinity", HOPELESS)),
        ),
    ],
)
def test_volumes_have_a_say(wishes: Any, decision: Any) -> None:
    assert decide(a_pod(), Picture(cluster(THREE).stations, {}, wishes)) == decision


# ------------------------------------------------------------------ small words
@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        ("In", ["a"], {"k": "a"}, True),
        ("In", ["a"], {}, False),
        ("NotIn", ["a"], {}, True),
        ("Exists", [], {"k": ""}, True),
        ("DoesNotExist", [], {"k": ""}, False),
        ("Gt", ["5"], {"k": "6"}, True),
        ("Gt", ["5"], {"k": "x"}, False),
        ("Lt", ["5"], {"k": "6"}, False),
        ("Lt", [], {"k": "6"}, False),
        ("Like", ["a"], {"k": "a"}, False),
    ],
)
def test_expressions(
    operator: str, values: list[str], labels: dict[str, str], matches: bool
) -> None:
    term = {"matchExpressions": [{"key": "k", "operator": operator, "values": values}]}

    assert matches_term(term, "n", labels) is matches
    assert not matches_term({}, "n", labels)


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Exists"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "value": "w"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "l", "operator": "Exists"}, False),
        ({"value": "v"}, False),
    ],
)
def test_tolerations(toleration: Json, covered: bool) -> None:
    assert covers(toleration, {"key": "k", "value": "v", "effect": "NoSchedule"}) is covered


def asks(cpu: str, **more: Any) -> Json:
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cores"),
    [
        ({"containers": [asks("1"), asks("500m")]}, 1.5),
        ({"containers": [asks("1")], "initContainers": [asks("3")]}, 3),
        ({"containers": [asks("1")], "initContainers": [asks("1", restartPolicy="Always")]}, 2),
        (
            {
                "containers": [asks("1")],
                "initContainers": [asks("1", restartPolicy="Always"), asks("2")],
            },
            3,
        ),
        ({"containers": [asks("1")], "overhead": {"cpu": "1"}}, 2),
        ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}, 2),
        ({"containers": [asks("much")]}, 0),
    ],
)
def test_what_a_pod_asks_for(spec: Json, cores: float) -> None:
    assert requests_of(spec).get("cpu", 0) == cores * 10**9
