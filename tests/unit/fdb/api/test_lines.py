"""Images of what runs and of what is asked for."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import msgspec
import pytest

from operators.fdb_manifests import spec
from stateward.core.errors import SpecInvalid
from stateward.core.version import Version
from stateward.fdb.api.checks.lines import must_tell_lines_apart
from stateward.fdb.api.defaults import normalized
from stateward.fdb.api.spec import FoundationDBClusterSpec
from stateward.fdb.model.classes import ProcessClass

ANY, BOTH = {"tag": "mine"}, [{"version": "7.1.61", "tag": "a"}, {"version": "7.3.63", "tag": "b"}]


@pytest.mark.parametrize(
    ("running", "said", "wrong"),
    [
        ("7.1.61", {}, ""),
        ("7.1.61", {"mainContainer": {"imageConfigs": [ANY]}}, "spec.mainContainer.imageConfigs"),
        ("7.3.60", {"mainContainer": {"imageConfigs": [ANY]}}, ""),
        # On the way back it would start the older by what the newer wrote.
        ("7.4.5", {"mainContainer": {"imageConfigs": [ANY]}}, "spec.mainContainer.imageConfigs"),
        ("7.1.61", {"sidecarContainer": {"imageConfigs": [ANY]}}, "spec.sidecarContainer"),
        ("7.1.61", {"mainContainer": {"imageConfigs": BOTH}}, ""),
        ("7.1.61", {"mainContainer": {"imageConfigs": [BOTH[1], ANY]}}, ""),
        ("7.1.61", {"mainContainer": {"imageConfigs": [{"tagSuffix": "-mine"}]}}, ""),
    ],
)
def test_one_image_cannot_be_of_two_lines(running: str, said: Any, wrong: str) -> None:
    asked = msgspec.convert(spec(version="7.3.63", **said), FoundationDBClusterSpec)
    refused = pytest.raises(SpecInvalid, match=wrong) if wrong else nullcontext()
    with refused:
        must_tell_lines_apart(normalized(asked), [ProcessClass.LOG], Version.parse(running))
