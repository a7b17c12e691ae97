"""The services and the budget, with and without templates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.etcd.api.settings import settings_of
from stateward.etcd.build.budget import budget, budget_key, staying
from stateward.etcd.build.services import (
    client_service,
    headless_service,
    service_name,
)
from stateward.etcd.model.members import quorum
from stateward.kube.codec import Json
from stateward.kube.patch import PatchError
from unit.etcd.build.examples import MINIMAL, cluster


def ports(service: Json) -> dict[str, int]:
    return {it["name"]: it["port"] for it in service["spec"]["ports"]}


def test_members_are_found_before_they_are_ready() -> None:
    made = headless_service(cluster(MINIMAL))
    assert made["metadata"]["name"] == "tiny-headless"
    assert made["spec"]["clusterIP"] == "None"
    assert made["spec"]["publishNotReadyAddresses"] is True
    assert ports(made) == {"peer": 2380, "client": 2379}


def test_clients_come_to_members_that_are_ready() -> None:
    made = client_service(cluster(MINIMAL))
    assert made["metadata"]["name"] == "tiny"
    assert "publishNotReadyAddresses" not in made["spec"]
    assert ports(made) == {"client": 2379, "metrics": 2381}


def test_names_can_be_chosen() -> None:
    named = {"metadata": {"name": "mine"}}
    of = cluster(MINIMAL, serviceTemplate=named)
    assert (service_name(of), headless_service(of)["metadata"]["name"]) == ("mine", "tiny-headless")
    of = cluster(MINIMAL, headlessServiceTemplate=named)
    assert (service_name(of), headless_service(of)["metadata"]["name"]) == ("tiny", "mine")
    assert settings_of(of).headless_service == "mine"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"type": "NodePort"}, {"type": "NodePort"}),
        ({"ports": [{"port": 2379, "name": "etcd"}]}, {"ports": {"etcd": 2379, "metrics": 2381}}),
        ({"ports": [{"port": 9, "name": "x"}]}, {"ports": {"x": 9, "client": 2379, "metrics": 2381}}),
        ({"ports": [{"port": 2381, "$patch": "delete"}]}, {"ports": {"client": 2379}}),
        ({"sessionAffinity": "ClientIP"}, {"type": "ClusterIP", "sessionAffinity": "ClientIP"}),
    ],
)  # fmt: skip
def test_a_template_is_laid_over_the_service(template: Json, expected: Json) -> None:
    made = client_service(cluster(MINIMAL, serviceTemplate={"spec": template}))
    shown = made["spec"] | {"ports": ports(made)}
    assert shown.items() >= expected.items()


def test_a_template_that_is_none_is_refused() -> None:
    with pytest.raises(PatchError, match="merge key"):
        client_service(cluster(MINIMAL, serviceTemplate={"spec": {"ports": [{"name": "x"}]}}))


def test_labels_of_a_template_do_not_take_an_object_from_its_cluster() -> None:
    stolen = {"metadata": {"labels": {"app.kubernetes.io/instance": "other", "team": "a"}}}
    for made in (
        client_service(cluster(MINIMAL, serviceTemplate=stolen)),
        headless_service(cluster(MINIMAL, headlessServiceTemplate=stolen)),
    ):
        labels = made["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == "tiny"
        assert labels["team"] == "a"


# ------------------------------------------------------------------ the budget
@pytest.mark.parametrize(
    ("replicas", "template", "voters", "members", "expected"),
    [
        (3, None, 3, 3, {"minAvailable": 2}),
        (3, None, 0, 0, {"minAvailable": 2}),  # nothing is known yet
        (5, None, 3, 4, {"minAvailable": 3}),  # growing, with a learner
        (3, None, 5, 5, {"minAvailable": 3}),  # shrinking
        (3, None, 3, 4, {"minAvailable": 3}),
        (2, None, 2, 2, None),
        (1, None, 1, 1, None),
        (0, None, 0, 0, None),
        (1, {}, 1, 1, {"minAvailable": 1}),
        (2, {}, 2, 2, {"minAvailable": 2}),
        (0, {}, 0, 0, None),
        (0, {}, 1, 1, {"minAvailable": 1}),
        (3, {"spec": {"minAvailable": 1}}, 3, 3, {"minAvailable": 1}),
        (3, {"spec": {"minAvailable": 0}}, 3, 3, {"minAvailable": 0}),
        (3, {"spec": {"minAvailable": "60%"}}, 3, 3, {"minAvailable": "60%"}),
        (3, {"spec": {"maxUnavailable": 0}}, 3, 3, {"maxUnavailable": 0}),
    ],
)
def test_a_quorum_stays(
    replicas: int, template: Any, voters: int, members: int, expected: Json | None
) -> None:
    of = cluster(MINIMAL, replicas=replicas, podDisruptionBudgetTemplate=template)
    made = budget(of, voters, members)
    if expected is None:
        assert made is None
        return
    assert made is not None
    assert made["metadata"]["name"] == budget_key(of).name == "tiny"
    share = {name: it for name, it in made["spec"].items() if name.startswith(("min", "max"))}
    assert share == expected
    assert made["spec"]["unhealthyPodEvictionPolicy"] == "IfHealthyBudget"


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 2))
def test_whoever_goes_a_quorum_of_voters_stays(replicas: int, voters: int, learners: int) -> None:
    members = voters + learners
    gone = max(members - staying(replicas, voters, members), 0)
    assert voters - gone >= quorum(voters)  # even if all that go are voters
    assert staying(replicas, voters, members) >= quorum(replicas)
