"""What of the chart is made from our code: the definitions of our kinds, and the rules of roles."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from stateward.app.install.chart import Release, objects, usual_values
from stateward.app.install.rights import ROLES
from stateward.app.kinds import PRODUCTS, definitions
from stateward.kube.codec import Json
from stateward.kube.crd.text import to_yaml

#: Helm leaves alone what has this when its release goes: databases must not go with their kind.
KEPT = {"helm.sh/resource-policy": "keep"}

_SAYS = "Made by `make manifests` from the Python code; not to be edited here."


def files() -> dict[str, str]:
    """Return the generated files of the chart, by their path in it."""
    found = {"templates/_rights.tpl": "".join(_rights())}
    for name, document in definitions(PRODUCTS).items():
        plural = name.partition(".")[0]
        found[f"templates/crd-{plural}.yaml"] = _templated(document)
    return found


def manifest() -> str:
    """Return one plain manifest of all that the chart installs unless told otherwise."""
    release = Release()
    made = objects(release, usual_values())
    return f"# {_SAYS}\n" + as_text([namespace_of(release), *made])


def namespace_of(release: Release) -> Json:
    """Return the namespace of the operator; what runs there is held to the strictest standard."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": release.namespace,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
        },
    }


def as_text(documents: list[Json]) -> str:
    """Return objects as kubectl reads them."""
    return "".join(f"---\n{to_yaml(it)}" for it in documents)


def _rights() -> Iterator[str]:
    yield f"{{{{- /* {_SAYS} */ -}}}}\n"
    for name, rights in ROLES.items():
        rules = [it.rule() for it in rights]
        text = yaml.safe_dump(rules, default_flow_style=None, sort_keys=False, width=120)
        yield f'{{{{- define "{name}" -}}}}\n{text.rstrip()}\n{{{{- end }}}}\n\n'


def _templated(document: Json) -> str:
    """Return a definition as a template: kept for ever, and left out on demand."""
    metadata = document["metadata"] | {"annotations": KEPT}
    text = to_yaml(document | {"metadata": metadata})
    if "{{" in text:
        text = text.replace("{{", "{{`{{`}}")
    return f"{{{{- /* {_SAYS} */ -}}}}\n{{{{- if .Values.crds.install }}}}\n{text}{{{{- end }}}}\n"
