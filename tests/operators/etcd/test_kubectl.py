"""What a person sees who has only kubectl."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from fakes.kubectl import find
from operators.etcd.worlds import World, version_of, world
from stateward.etcd.api.settings import DEFAULT_VERSION

EXAMPLE = Path(__file__).parents[3] / "examples" / "etcd" / "minimal.yaml"


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and how it ended."""

    out: str
    err: str
    code: int


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The real one. It must not hold up this process, in which its server is."""

    program: str
    world: World

    async def __call__(self, *words: str, code: int = 0) -> Said:
        process = await asyncio.create_subprocess_exec(
            self.program,
            "--namespace",
            self.world.namespace,
            *words,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.world.folder),
                "KUBECONFIG": str(self.world.cluster.kubeconfig),
            },
        )
        out, err = await process.communicate()
        said = Said(out.decode(), err.decode(), process.returncode or 0)
        assert said.code == code, said
        return said


def kubectl_of(it: World) -> Kubectl:
    found = find()
    if not found.program:
        pytest.skip(f"kubectl: {found.told}")
    return Kubectl(found.program, it)


#: One blank is part of a cell, more of them are between two.
COLUMNS = re.compile(r" {2,}")


async def row(kubectl: Kubectl) -> dict[str, str]:
    """Return the one row of `kubectl get etcd` by its columns."""
    head, line = (await kubectl("get", "etcd")).out.splitlines()
    return dict(zip(COLUMNS.split(head), COLUMNS.split(line), strict=True))


def example_of(it: World) -> Path:
    """Return the example, with the version that this machine has if the usual one is not there."""
    manifest = yaml.safe_load(EXAMPLE.read_text())
    if it.version != str(DEFAULT_VERSION):
        manifest.setdefault("spec", {})["version"] = it.version
    example = it.folder / EXAMPLE.name
    example.write_text(yaml.safe_dump(manifest))
    return example


async def test_a_person_with_kubectl(plane: str) -> None:
    async with world(plane) as it, it.operating():
        kubectl = kubectl_of(it)
        example = example_of(it)
        await kubectl("apply", "-f", str(example))
        await kubectl("wait", "--for=condition=Ready", "etcd/minimal", "--timeout=60s")
        seen = await row(kubectl)
        assert " ".join(seen) == "NAME READY QUORUM MEMBERS LEADER VERSION DOING AGE"
        assert seen["NAME"] == "minimal"
        assert seen["READY"] == "True"
        assert seen["MEMBERS"] == "3/3"
        assert seen["LEADER"] in {"minimal-0", "minimal-1", "minimal-2"}
        assert seen["VERSION"] == it.version
        again = await kubectl("apply", "-f", str(example))
        assert "unchanged" in again.out

        await kubectl("scale", "etcd/minimal", "--replicas=1")
        await kubectl(
            "wait", "--for=jsonpath={.status.replicas}=1", "etcd/minimal", "--timeout=60s"
        )
        await kubectl("wait", "--for=condition=Ready", "etcd/minimal", "--timeout=60s")
        assert (await row(kubectl))["MEMBERS"] == "1/1"
        told = (await kubectl("describe", "etcd", "minimal")).out
        events = told.partition("Events:")[2]
        for reason in ("WriteConfig", "WriteWorkload", "RemoveMember"):
            assert reason in events

        await kubectl("delete", "etcd", "minimal", "--timeout=60s")
        await kubectl("wait", "--for=delete", "statefulset/minimal", "--timeout=60s")
        await kubectl("wait", "--for=delete", "pvc/data-minimal-0", "--timeout=60s")
        assert "No resources found" in (await kubectl("get", "pods,pvc,svc,pdb")).err


async def test_the_door_says_why(plane: str) -> None:
    """Nothing of this reaches the operator, and the sentence reaches the person."""
    async with world(plane) as it:
        kubectl = kubectl_of(it)
        await kubectl("apply", "-f", str(EXAMPLE))
        for words, sentence in (
            ({"version": "3.5"}, "version must be three numbers, as in 3.6.16"),
            ({"replicas": -1}, "spec.replicas"),
            ({"options": {"name": "me"}}, "the operator itself sets name"),
        ):
            patch = yaml.safe_dump({"spec": words})
            said = await kubectl("patch", "etcd", "minimal", "--type=merge", "-p", patch, code=1)
            assert sentence in said.err


@pytest.mark.usefixtures("both_minors")
async def test_19_kubectl_hears_why_a_version_cannot_follow(plane: str) -> None:
    async with world(plane, etcd="3.6") as it, it.operating():
        kubectl = kubectl_of(it)
        await it.create("shop", replicas=1)
        await it.ready("shop")
        for version, sentence in (
            (version_of("3.5"), "version cannot go back by a minor release"),
            ("3.8.0", "version must go up by one minor release at a time"),
        ):
            patch = f'{{"spec":{{"version":"{version}"}}}}'
            said = await kubectl("patch", "etcd", "shop", "--type=merge", "-p", patch, code=1)
            assert sentence in said.err
