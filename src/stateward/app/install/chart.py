"""The chart, and what it installs: its templates filled with what was chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from stateward.app.install import template
from stateward.app.install.functions import ChartFunctions
from stateward.core.errors import UsageError
from stateward.kube.codec import Json

#: Where it lies in an installed package, and in a checkout.
_HOMES: Final = (
    Path(__file__).parent / "chart",
    Path(__file__).parents[4] / "deploy" / "chart",
)
#: What only defines, and what is told to people.
_DEFINES, _NOTES = ".tpl", "NOTES.txt"


@dataclass(frozen=True, slots=True)
class Release:
    """How an installation is called, and where its operator runs."""

    name: str = "stateward"
    namespace: str = "stateward"


def home() -> Path:
    """Return the folder of the chart."""
    found = next((it for it in _HOMES if (it / "Chart.yaml").is_file()), None)
    if found is None:
        raise UsageError(
            "the chart must be there, in the package or in a checkout's deploy/chart",
            hint="install the package again",
        )
    return found


def usual_values() -> Json:
    """Return what is chosen unless somebody chooses otherwise."""
    values: Json = yaml.safe_load(values_text())
    return values


def values_text() -> str:
    """Return the same with explanations."""
    return (home() / "values.yaml").read_text(encoding="utf-8")


def schema() -> Json:
    """Return what values must be like."""
    found: Json = json.loads((home() / "values.schema.json").read_text(encoding="utf-8"))
    return found


def objects(release: Release, values: Mapping[str, Any]) -> list[Json]:
    """Return everything that is installed, in the order in which it is applied."""
    found = [
        document
        for name, text in _rendered(release, values).items()
        if name != _NOTES
        for document in yaml.safe_load_all(text)
        if document
    ]
    return sorted(found, key=lambda it: _ORDER.get(it["kind"], len(_ORDER)))


def notes(release: Release, values: Mapping[str, Any]) -> str:
    """Return what people are told after an installation."""
    return _rendered(release, values)[_NOTES]


#: Kinds that others need are applied first.
_ORDER: Final = {
    kind: place
    for place, kind in enumerate(
        ("CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role")
    )
}


def _rendered(release: Release, values: Mapping[str, Any]) -> dict[str, str]:
    about = yaml.safe_load((home() / "Chart.yaml").read_text(encoding="utf-8"))
    dot = {
        "Values": values,
        "Release": {
            "Name": release.name,
            "Namespace": release.namespace,
            "Service": "stateward",
        },
        "Chart": {"Name": about["name"], "AppVersion": about["appVersion"]},
    }
    defined, trees = _templates()
    renderer = template.Renderer(ChartFunctions(defined))
    return {name: renderer.text(nodes, dot) for name, nodes in trees.items()}


@cache
def _templates() -> tuple[template.Defined, dict[str, list[template.Node]]]:
    defined: template.Defined = {}
    trees = {name: template.read(source, defined) for name, source in _sources()}
    printed = {name: it for name, it in trees.items() if not name.endswith(_DEFINES)}
    return defined, printed


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted((home() / "templates").iterdir()):
        yield path.name, path.read_text(encoding="utf-8")
