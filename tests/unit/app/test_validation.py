"""What `stateward validate` says about manifests."""

from __future__ import annotations

import pytest

from stateward.app.validation import problems
from stateward.kube.manifests import Manifest

TEAM = {"apiVersion": "example.stateward.dev/v1alpha1", "kind": "Team"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({**TEAM, "metadata": {"name": "a"}, "spec": {"size": 1, "motto": "x"}}, []),
        ({**TEAM, "metadata": {"generateName": "a-"}}, []),
        ({**TEAM, "metadata": {"name": "a"}, "spec": {"size": 10}}, ["Expected `int` <= 9"]),
        ({**TEAM, "metadata": {"name": "a"}, "spec": {"size": "3"}}, ["Expected `int`, got `str`"]),
        ({**TEAM, "metadata": {"name": "A_b"}}, ["metadata.name: must"]),
        ({**TEAM, "metadata": {}}, ["metadata.name: must be given"]),
        (TEAM, ["metadata: must be given"]),
        ({"kind": "Team"}, ["apiVersion: must be given"]),
        ({"apiVersion": "v1", "kind": 3}, ["kind: must be given"]),
        ({**TEAM, "kind": "Taem", "metadata": {"name": "a"}}, ["did you mean"]),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "dta": {}},
            ["dta: there is no such field; did you mean data?"],
        ),
    ],
)
def test_problems(body, said):
    found = list(problems(Manifest(body, "f", 1)))

    assert len(found) == len(said)
    assert all(words in sentence for words, sentence in zip(said, found, strict=True))
