"""Documents as YAML that every reader reads alike."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from stateward.kube.codec import Json

#: Texts that YAML readers disagree about: 1e3 and 0o7 are numbers to some, y and n are booleans.
_DOUBTFUL: Final = re.compile(r"[-+.]?[0-9]\S*|[yYnN]")


def to_yaml(*documents: Json) -> str:
    """Return the documents as one YAML text: keys in the order given, no aliases, always the same.

    >>> print(to_yaml({"kind": "Ship", "spec": {"version": "1e3"}}), end="")
    kind: Ship
    spec:
      version: '1e3'
    """
    return yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=120,
        explicit_start=len(documents) > 1,
    )


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "'" if _DOUBTFUL.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
