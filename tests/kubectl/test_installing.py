"""The plain manifest, applied as users apply it: taken to the letter, twice, without a warning."""

from __future__ import annotations

import yaml
from tools.manifests import PLAIN

from local.clusters import Kubectl


def test_the_manifest_is_taken_to_the_letter_and_twice(kubectl: Kubectl) -> None:
    served = kubectl("api-resources", "--no-headers")
    documents = [it for it in yaml.safe_load_all(PLAIN.read_text()) if it["kind"] in served]
    left_out = [it["kind"] for it in yaml.safe_load_all(PLAIN.read_text())]
    for it in documents:
        left_out.remove(it["kind"])
    text = yaml.safe_dump_all(documents)
    apply = ("apply", "--server-side", "--validate=strict", "-f", "-")
    try:
        said = [kubectl(*apply, stdin=text) for _ in range(2)]
        assert [len(it.splitlines()) for it in said] == [len(documents), len(documents)]
    finally:
        kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=text)
    assert set(left_out) <= {"NetworkPolicy"}  # the embedded Kubernetes has none
