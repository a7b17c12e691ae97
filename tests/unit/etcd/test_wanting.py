"""What a cluster should be made of is kept in mind, and is never what it once should have been."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pytest

from stateward.etcd.addresses import ClusterDns
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import settings_of
from stateward.etcd.api.status import KnownMember
from stateward.etcd.api.validation import problems
from stateward.etcd.build import documents
from stateward.etcd.build.kept import kept_problems
from stateward.etcd.build.volumes import claim_templates
from stateward.etcd.build.workload import workload
from stateward.etcd.model.view import Config
from stateward.etcd.wanting import Wants
from stateward.kube.codec import Json, decode, encode, plain
from unit.etcd.build.examples import EXAMPLES, MINIMAL, cluster, outside

replaced = msgspec.structs.replace

CONFIG = Config((("tiny-0", "https://tiny-0:2380"),), existing=True)
FIVE = tuple(KnownMember(name=f"tiny-{it}") for it in range(5))


class Asked(NamedTuple):
    """All that the documents of a cluster are made from."""

    cluster: EtcdCluster
    ca_hashes: dict[str, str] = {}
    config: Config = CONFIG


def made_now(asked: Asked) -> list[Any]:
    """Work everything out from nothing."""
    it, members = asked.cluster, asked.cluster.status.last_known_members
    voters = sum(not known.learner for known in members)
    around = documents.around(it, voters=voters, members=len(members))
    settings = settings_of(it)
    pods = workload(it, settings, outside(it, **asked.ca_hashes), replicas=0)
    size = {"replicas", "ordinals", "volumeClaimTemplates"}
    return [
        problems(it) or kept_problems(it, settings),
        settings,
        {name: value for name, value in pods["spec"].items() if name not in size},
        tuple(claim_templates(it, settings)),
        around,
        documents.variables(it, asked.config),
    ]


def recalled(wants: Wants, asked: Asked) -> list[Any]:
    want, members = wants.of(asked.cluster), asked.cluster.status.last_known_members
    pods = want.pods(asked.ca_hashes, None)
    return [
        want.problems,
        want.settings,
        pods.document["spec"],
        pods.claim_templates,
        want.around(sum(not it.learner for it in members), len(members)),
        want.variables(asked.config),
    ]


def wants() -> Wants:
    return Wants(ClusterDns(), lambda *_: False)


TINY = cluster(MINIMAL)


def spec(**changes: Any) -> Asked:
    """The small cluster after an edit, which has a generation of its own."""
    edited = decode(encode(plain(TINY) | {"spec": changes}), EtcdCluster)
    return Asked(replaced(edited, metadata=replaced(edited.metadata, generation=1)))


def metadata(**changes: Any) -> Asked:
    return Asked(replaced(TINY, metadata=replaced(TINY.metadata, **changes)))


def status(**changes: Any) -> Asked:
    return Asked(replaced(TINY, status=replaced(TINY.status, **changes)))


def toleration(value: Any) -> Json:
    return {"spec": {"tolerations": [{"tolerationSeconds": value}]}}


#: What may change between two looks, and which of the answers must change then.
EDITS: dict[str, tuple[Asked, Asked]] = {
    "size": (spec(replicas=3), spec(replicas=5)),
    "flags": (spec(), spec(options={"pre-vote": ""})),
    "version": (spec(version="3.5.21"), spec(version="3.5.22")),
    "template": (spec(), spec(podTemplate={"spec": {"priorityClassName": "high"}})),
    "nonsense": (
        spec(),
        spec(podTemplate={"spec": {"containers": [{"name": "etcd", "args": []}]}}),
    ),
    "volume": (spec(), spec(storage={"emptyDir": {}})),
    "secrets": (spec(), spec(security={"tls": {"serverSecret": "s"}})),
    "authority": (Asked(TINY, {"s": "1"}), Asked(TINY, {"s": "2"})),
    "what runs": (status(version="3.5.21"), status(version="3.6.1")),
    "members": (status(last_known_members=FIVE), status(last_known_members=FIVE[:3])),
    "voters": (
        status(last_known_members=FIVE),
        status(last_known_members=tuple(replaced(it, learner=True) for it in FIVE)),
    ),
    "another of its name": (metadata(), metadata(uid="11111111-0000-4000-8000-00000000000f")),
    "another name": (metadata(), metadata(name="other")),
    "another namespace": (metadata(), metadata(namespace="other")),
    "config": (Asked(TINY), Asked(TINY, config=Config(CONFIG.initial_cluster, existing=False))),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_seen_at_once_and_so_is_its_end(edit: str) -> None:
    before, after = EDITS[edit]
    assert made_now(before) != made_now(after), "an edit of nothing would show nothing"
    mind = wants()
    for asked in (before, after, after, before):
        assert recalled(mind, asked) == made_now(asked)


def test_true_that_becomes_one_is_an_edit_too() -> None:
    """To Python they are equal; the number of the generation tells them apart."""
    mind = wants()
    for number, value in enumerate((True, 1)):
        asked = spec(podTemplate=toleration(value))
        edited = replaced(asked.cluster.metadata, generation=number)
        found = mind.of(replaced(asked.cluster, metadata=edited)).pods({}, None)
        seconds = found.document["spec"]["template"]["spec"]["tolerations"][0]["tolerationSeconds"]
        assert type(seconds) is type(value)


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_only_tells_of_a_cluster_is_no_reason_to_work(example: str) -> None:
    it = cluster(EXAMPLES[example])
    mind = wants()
    first = recalled(mind, Asked(it))
    told = replaced(it.status, doing="nothing", leader="tiny-1", revision=7, ready_members="3/3")
    labelled = replaced(it.metadata, resource_version="8", labels={"a": "b"}, annotations={"c": ""})
    again = recalled(mind, Asked(replaced(it, status=told, metadata=labelled)))
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert first == made_now(Asked(it))
