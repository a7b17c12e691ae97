"""What a whole local cluster costs: until its first sign of life, and in memory with many pods."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.kube.http.client import HttpClient
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.resources import PODS
from tools.bench.kubernetes import Server

#: What the documentation promises.
FIRST_TICK_S, MEMORY_MB = 1.5, 120.0
PODS_COUNT = 500


def measure() -> bool:
    """Print what a cluster costs; return whether it keeps the promise."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with subprocess.Popen(
            [str(Path(sys.executable).parent / "stateward"), "local", "up"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": folder},
        ) as process:
            try:
                tick, empty, full = _measured(process, began)
            finally:
                process.send_signal(signal.SIGINT)
    print("\na whole local cluster (`stateward local up`)")
    print(f"{'first tick':24} {tick:8.2f} s    promise {FIRST_TICK_S} s")
    print(f"{'memory, empty':24} {empty:8.0f} MB")
    print(f"{f'memory, {PODS_COUNT} pods':24} {full:8.0f} MB   promise {MEMORY_MB:.0f} MB")
    return tick <= FIRST_TICK_S and full <= MEMORY_MB


def _measured(process: subprocess.Popen[str], began: float) -> tuple[float, float, float]:
    if process.stdout is None:
        raise RuntimeError("the cluster must have a pipe")
    tick, kubeconfig = 0.0, ""
    while not kubeconfig:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the cluster ended")
        tick = tick or time.perf_counter() - began
        kubeconfig = line.partition("KUBECONFIG=")[2].strip()
    server = Server(0, process.pid)
    time.sleep(2)
    empty = server.memory()
    asyncio.run(_fill(Path(kubeconfig)))
    time.sleep(3)
    return tick, empty, server.memory()


async def _fill(kubeconfig: Path) -> None:
    """Create pods that no node wants: objects, conditions and events, and no processes."""
    access = from_kubeconfig([kubeconfig], os.environ)
    async with HttpClient(access, SystemClock(), Chance(1)) as client:
        for number in range(PODS_COUNT):
            spec = {
                "nodeSelector": {"no-node": "has-this"},
                "containers": [{"name": "main", "image": "stateward.dev/web:1"}],
            }
            metadata = {"namespace": "default", "name": f"pod-{number}", "labels": {"app": "bench"}}
            await client.create(PODS, {"metadata": metadata, "spec": spec})


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
