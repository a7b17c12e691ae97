"""Which objects a change wakes up."""

from __future__ import annotations

import pytest

from stateward.kube.meta import ObjectKey, ObjectMeta, OwnerReference
from stateward.kube.objects.configs import ConfigMap
from stateward.kube.resources import CONFIG_MAPS, NODES, STATEFUL_SETS
from stateward.runtime import triggers


def owned(*owners: str, labels: dict[str, str] | None = None) -> ConfigMap:
    """An object with owners like ``apps/v1 StatefulSet web``; a star marks the controlling one."""
    references = []
    for text in owners:
        version, kind, name = text.lstrip("*").split()
        references.append(
            OwnerReference(
                api_version=version, kind=kind, name=name, uid=name, controller=text[0] == "*"
            )
        )
    return ConfigMap(
        metadata=ObjectMeta(
            namespace="ns",
            name="a",
            labels=labels or {},
            owner_references=tuple(references),
        )
    )


def woken(trigger: triggers.Trigger, item: ConfigMap) -> list[str]:
    return [str(key) for key in trigger(item)]


def test_itself():
    assert woken(triggers.itself, owned()) == ["ns/a"]
    assert woken(triggers.itself, ConfigMap(metadata=ObjectMeta(name="of-no-namespace"))) == [
        "of-no-namespace"
    ]


@pytest.mark.parametrize(
    ("owners", "keys"),
    [
        pytest.param([], [], id="nobody"),
        pytest.param(["*apps/v1 StatefulSet web"], ["ns/web"], id="the controller"),
        pytest.param(["*apps/v1beta2 StatefulSet web"], ["ns/web"], id="of another version"),
        pytest.param(["*other.org/v1 StatefulSet web"], [], id="of another group"),
        pytest.param(["*v1 StatefulSet web"], [], id="of no group"),
        pytest.param(["*apps/v1 Deployment web"], [], id="of another kind"),
        pytest.param(["apps/v1 StatefulSet web"], [], id="an owner that does not control"),
        pytest.param(
            ["apps/v1 StatefulSet old", "*apps/v1 StatefulSet web"], ["ns/web"], id="among others"
        ),
    ],
)
def test_the_controlling_owner(owners, keys):
    assert woken(triggers.owner(STATEFUL_SETS), owned(*owners)) == keys


def test_an_owner_of_the_core_group():
    assert woken(triggers.owner(CONFIG_MAPS), owned("*v1 ConfigMap boss")) == ["ns/boss"]


def test_an_owner_of_no_namespace_is_found_in_none():
    assert list(triggers.owner(NODES)(owned("*v1 Node n1"))) == [ObjectKey("", "n1")]


@pytest.mark.parametrize(
    ("labels", "keys"), [({"team": "crew"}, ["ns/crew"]), ({"team": ""}, []), ({"x": "y"}, [])]
)
def test_the_object_that_a_label_names(labels, keys):
    assert woken(triggers.label("team"), owned(labels=labels)) == keys
