"""What each real program is built from: a Go module of ours that only requires others' modules.

The version of a program has one home, its ``go.mod``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.local.real.programs import Part

HERE: Final = Path(__file__).parent

_PACKAGES: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "etcdctl": "go.etcd.io/etcd/etcdctl/v3",
    "etcdutl": "go.etcd.io/etcd/etcdutl/v3",
    "helm": "helm.sh/helm/v3/cmd/helm",
    "promtool": "github.com/prometheus/prometheus/cmd/promtool",
    "coredns": "stateward.dev/real/coredns-1",
}
#: Whose version a program of ours has.
_MODULES: Final = {"coredns": "github.com/coredns/coredns"}
_REQUIRED: Final = re.compile(r"^(?:require)?\s*(\S+) v(\d+\.\d+\.\d+)", re.MULTILINE)
_GO: Final = re.compile(r"^go (\d+(?:\.\d+)+)$", re.MULTILINE)
_KUBERNETES_VERSION: Final = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


@dataclass(frozen=True, slots=True)
class Source:
    """How one program is built."""

    part: Part
    program: str
    folder: Path
    package: str
    version: str
    #: The oldest Go that can build it.
    go: str

    @property
    def stamps(self) -> dict[str, str]:
        """The variables that the linker sets; without them a program does not know its version."""
        if self.part.name == "kubernetes":
            return _kubernetes_stamps(self.version)
        if self.part.name == "helm":
            return {"helm.sh/helm/v3/internal/version.version": f"v{self.version}"}
        if self.part.name == "promtool":
            return {"github.com/prometheus/common/version.Version": self.version}
        return {}

    @property
    def tags(self) -> tuple[str, ...]:
        """What Go is told to leave out: promtool would bring the clients of twenty clouds along."""
        return ("remove_all_sd",) if self.part.name == "promtool" else ()

    def __str__(self) -> str:
        return f"{self.program} {self.version}"


def source_of(part: Part, program: str, root: Path = HERE) -> Source:
    """Read how a program is built."""
    folder = root / part.folder
    text = (folder / "go.mod").read_text()
    package = _PACKAGES.get(program, f"k8s.io/kubernetes/cmd/{program}")
    required = dict(_REQUIRED.findall(text))
    home = f"{_MODULES.get(program, package)}/"
    version = next(it for module, it in required.items() if home.startswith(f"{module}/"))
    if part.name == "promtool":
        version = _prometheus(version)
    (oldest,) = _GO.findall(text)
    return Source(part, program, folder, package, version, oldest)


def _prometheus(module: str) -> str:
    """Return the release of a module's version: v0.315.2 is Prometheus 3.15.2.

    >>> _prometheus("0.315.2")
    '3.15.2'
    """
    _, minor, patch = map(int, module.split("."))
    return f"{minor // 100}.{minor % 100}.{patch}"


def _kubernetes_stamps(version: str) -> dict[str, str]:
    major, minor, _ = version.split(".")
    said = {
        "gitVersion": f"v{version}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
        "buildDate": "1970-01-01T00:00:00Z",
    }
    return {f"{package}.{key}": it for package in _KUBERNETES_VERSION for key, it in said.items()}
