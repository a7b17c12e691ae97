"""Somebody with kubectl, in a story whose cluster is in this process.

kubectl is a process of its own, and is waited for without holding up the server that answers it.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fakes.kubectl import find
from operators.fdb.fdb_hands import CLUSTER, NAMESPACE
from operators.fdb.fdb_worlds import PATIENCE, World, told


@dataclass(frozen=True, slots=True)
class Person:
    """Runs kubectl against the cluster of a world."""

    it: World
    program: str
    home: Path

    async def __call__(self, *words: str, stdin: str = "") -> str:
        """Return what kubectl printed; it must not fail."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "KUBECONFIG": str(self.it.cluster.kubeconfig),
        }
        process = await asyncio.create_subprocess_exec(
            *(self.program, "-n", NAMESPACE, *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=environment,
        )
        out, _ = await process.communicate(stdin.encode())
        stands = told(await self.it.get(CLUSTER)) if process.returncode else ""
        assert not process.returncode, f"kubectl {' '.join(words)}:\n{out.decode()}\n{stands}"
        return out.decode()

    async def patch(self, **spec: Any) -> None:
        """Change the cluster's spec."""
        body = json.dumps({"spec": spec})
        await self("patch", "fdb", CLUSTER, "--type=merge", "-p", body)

    async def wait(self, what: str) -> None:
        """Wait until something is said of the cluster."""
        await self("wait", f"--for={what}", f"fdb/{CLUSTER}", f"--timeout={PATIENCE:g}s")

    async def ready(self) -> None:
        """Wait until the cluster says of this generation that it is ready, and all is as asked."""
        generation = await self.field("metadata.generation")
        await self.wait(f"jsonpath={{.status.generations.reconciled}}={generation}")
        await self.wait("condition=Ready")

    async def blocked(self, guard: str) -> str:
        """Wait until something holds the cluster up; return what kubectl shows of it."""
        async with asyncio.timeout(PATIENCE):
            while guard not in (said := await self.field("status.blockers")):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        return said

    async def field(self, path: str) -> str:
        """Return a part of the cluster, as text."""
        return await self("get", "fdb", CLUSTER, "-o", f"jsonpath={{.{path}}}")

    async def row(self) -> str:
        """Return what `kubectl get fdb` shows of the cluster."""
        return (await self("get", "fdb", CLUSTER)).splitlines()[-1]


def with_kubectl(it: World, home: Path) -> Person:
    """Return somebody with kubectl; skip the story where this machine has none."""
    found = find()
    if not found.program:
        pytest.skip(f"kubectl: {found.told}")
    return Person(it, found.program, home)
