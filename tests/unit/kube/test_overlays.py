"""What is laid over Kubernetes' own objects: names and types are known, and nothing is missed."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.kube.overlays import overlay_problems

POD = "io.k8s.api.core.v1.PodSpec"


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        ({}, []),
        ({"tolerations": None, "containers": [{"name": "a"}]}, []),
        ({"$patch": "replace", "$retainKeys": [], "$setElementOrder/volumes": [{"name": "a"}]}, []),
        ({"containers": [{"name": "a", "$patch": "delete"}]}, []),
        ({"nodeSelector": {"any.key/at-all": "x"}}, []),
        ({"containers": [{"resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}]}, []),
        ({"containers": [{"livenessProbe": {"httpGet": {"port": "web"}}}]}, []),
        ({"terminationGracePeriodSeconds": 30.0}, []),
        ({"containers": [None]}, ["p.containers[0]: must not be null: write what shall be there"]),
        ({"containers": [{"name": "a", "args": [None]}]}, ["p.containers[0].args[0]: must not be null: write what shall be there"]),
        ("text", ["p: must be an object with fields, got 'text'"]),
        ({"tolerationz": []}, ["p.tolerationz: there is no such field; did you mean tolerations?"]),
        ({"zzz": []}, ["p.zzz: there is no such field"]),
        ({"$order": []}, ["p.$order: there is no such field"]),
        ({"hostNetwork": "yes"}, ["p.hostNetwork: must be true or false, got 'yes'"]),
        ({"terminationGracePeriodSeconds": 1.5}, ["p.terminationGracePeriodSeconds: must be a whole number, got 1.5"]),
        ({"terminationGracePeriodSeconds": True}, ["p.terminationGracePeriodSeconds: must be a whole number, got true"]),
        ({"containers": [{"ports": [{"containerPort": "a"}]}]}, ["p.containers[0].ports[0].containerPort: must be a whole number, got 'a'"]),
        ({"nodeSelector": {"a": 1}}, ['p.nodeSelector.a: must be a text, got 1: write it in quotes, "1"']),
        ({"containers": [{"livenessProbe": {"httpGet": {"port": []}}}]}, ["p.containers[0].livenessProbe.httpGet.port: must be a number or a text, got a list"]),
        (
            {"containers": [{"resources": {"limits": {"memory": "much"}}}]},
            ["p.containers[0].resources.limits.memory: a quantity must look like '100m', '0.5', '2Gi' or '1e3', got 'much'"],
        ),
    ],
)  # fmt: skip
def test_problems_of_a_pod(overlay: Any, said: list[str]) -> None:
    assert [str(it) for it in overlay_problems(overlay, POD, "p")] == said
