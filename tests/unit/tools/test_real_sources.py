"""What the real programs are built from: versions have one home, go.mod."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from tools.real.sources import HERE, source_of

from stateward.local.real.programs import (
    CLUSTER_PARTS,
    COREDNS,
    ETCD,
    HELM,
    KUBERNETES,
    PARTS,
    PROMTOOL,
    Part,
)

MODULE = dedent(
    """\
    module stateward.dev/real/x

    go 1.26.0

    {required}

    require (
      go.etcd.io/bbolt v1.4.3 // indirect
      k8s.io/kubernetes-more v1.2.3 // indirect
    )

    replace k8s.io/api => k8s.io/api v0.35.4
    """
)


@pytest.mark.parametrize(
    ("part", "program", "required", "version"),
    [
        (KUBERNETES, "kubectl", "require k8s.io/kubernetes v1.35.14", "1.35.14"),
        (ETCD, "etcd", "require (\n\tgo.etcd.io/etcd/etcdctl/v3 v3.6.1\n\tgo.etcd.io/etcd/server/v3 v3.6.2\n)", "3.6.2"),
        (HELM, "helm", "require helm.sh/helm/v3 v3.22.0", "3.22.0"),
        (COREDNS, "coredns", "require github.com/coredns/coredns v1.13.2", "1.13.2"),
        (PROMTOOL, "promtool", "require github.com/prometheus/prometheus v0.315.2", "3.15.2"),
        (PROMTOOL, "promtool", "require github.com/prometheus/prometheus v0.305.0", "3.5.0"),
    ],
)  # fmt: skip
def test_go_mod_says_the_version(
    tmp_path: Path, part: Part, program: str, required: str, version: str
) -> None:
    (tmp_path / part.folder).mkdir()
    (tmp_path / part.folder / "go.mod").write_text(MODULE.format(required=required))

    source = source_of(part, program, tmp_path)

    assert (source.version, source.go) == (version, "1.26.0")


ALL = {*PARTS, *CLUSTER_PARTS}
SOURCES = {source_of(part, program) for part in ALL for program in part.programs}


@pytest.mark.parametrize("source", sorted(SOURCES, key=str), ids=str)
def test_every_program_has_a_source_of_its_release(source) -> None:
    assert source.version.startswith(f"{source.part.release}.")
    named = "main" if source.part == COREDNS else f'"{source.package}"'  # one is a program of ours
    assert named in next(source.folder.glob("*.go")).read_text()


def test_there_is_no_source_without_a_part() -> None:
    assert {it.parent.name for it in HERE.glob("*/go.mod")} == {part.folder for part in ALL}


@pytest.mark.parametrize(
    ("part", "stamped"),
    [
        (KUBERNETES, "k8s.io/component-base/version.gitVersion=v{}"),
        (HELM, "helm.sh/helm/v3/internal/version.version=v{}"),
        (PROMTOOL, "github.com/prometheus/common/version.Version={}"),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_the_linker_tells_a_program_its_version(part: Part, stamped: str) -> None:
    source = source_of(part, part.programs[0])

    assert stamped.format(source.version) in [f"{k}={v}" for k, v in source.stamps.items()]
