"""What an operator costs that looks after a fleet: until all was seen to once, in memory, at rest."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stateward.local.server.identity import kubeconfig_text
from tools.bench.fleet_world import NAMESPACE, SIZE
from tools.bench.kubernetes import TOKEN, Server
from tools.bench.ports import free_ports

CLUSTERS, PODS = 100, 100
#: What the documentation promises.
MEMORY_MB: Final = 150.0
#: Seconds at rest that are measured, and how long anything may take.
REST: Final = 60.0
_PATIENCE: Final = 600.0


def measure(clusters: int = CLUSTERS, rest: float = REST) -> bool:
    """Print what a fleet costs; return whether the promise is kept."""
    with _world(clusters) as port, tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(kubeconfig_text(f"http://127.0.0.1:{port}", TOKEN, b""))
        with _operator(kubeconfig) as first:
            made = first.until(lambda: first.value("stateward_etcd_quorate") >= clusters)
            first.until_quiet()
        with _operator(kubeconfig) as again:
            seen = again.until(
                lambda: again.value("controller_runtime_reconcile_total") >= clusters
            )
            again.until_quiet()
            cpu, asked = again.cost.cpu(), again.value("rest_client_requests_total")
            time.sleep(rest)
            busy = (again.cost.cpu() - cpu) * 60 / rest
            calls = (again.value("rest_client_requests_total") - asked) * 60 / rest
            memory = again.cost.memory()
    print(
        f"\na fleet: {clusters} clusters of {SIZE} members among {clusters * PODS} pods, over HTTP"
    )
    print(f"{'all created and well':36} {made:8.1f} s")
    print(f"{'started anew: all seen to once':36} {seen:8.1f} s")
    print(f"{'memory':36} {memory:8.0f} MB   promise {MEMORY_MB:.0f} MB")
    print(f"{'CPU at rest':36} {busy:8.1f} s a minute")
    print(f"{'requests to the API server at rest':36} {calls:8.0f} a minute")
    return memory <= MEMORY_MB


class Operator:
    """A process to measure."""

    def __init__(self, process: subprocess.Popen[bytes], metrics: int) -> None:
        self._process = process
        self.cost = Server(0, process.pid)
        self._url = f"http://127.0.0.1:{metrics}/metrics"
        self._began = time.perf_counter()

    def value(self, metric: str) -> float:
        """Return the sum of a metric's series; 0 before anybody answers."""
        try:
            with urllib.request.urlopen(self._url, timeout=10) as answer:  # noqa: S310 - our own
                text = answer.read().decode()
        except OSError:
            return 0.0
        found = re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))

    def until(self, is_so: Callable[[], bool]) -> float:
        """Wait; return how many seconds after the start it was so."""
        while not is_so():
            if self._process.poll() is not None:
                raise RuntimeError(f"the operator ended with {self._process.returncode}")
            if time.perf_counter() - self._began > _PATIENCE:
                raise RuntimeError(f"it takes longer than {_PATIENCE:g} s")
            time.sleep(0.1)
        return time.perf_counter() - self._began

    def until_quiet(self) -> None:
        """Wait until nothing waits, for a while."""
        quiet = 0
        while quiet < 20:
            quiet = 0 if self.value("workqueue_depth") else quiet + 1
            time.sleep(0.5)


@contextmanager
def _world(clusters: int) -> Iterator[str]:
    words = [sys.executable, "-m", "tools.bench.fleet_world", str(clusters), str(PODS - SIZE)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the world must have pipes")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


@contextmanager
def _operator(kubeconfig: Path) -> Iterator[Operator]:
    metrics, probes = free_ports(2)
    words = [str(Path(sys.executable).parent / "stateward"), "operator", "--product", "etcd"]
    words += ["--kubeconfig", str(kubeconfig), "--namespace", NAMESPACE, "--no-leader-election"]
    words += ["--metrics-address", f"127.0.0.1:{metrics}", "--probe-address", f"127.0.0.1:{probes}"]
    words += ["--log-level", "error"]
    with subprocess.Popen(words) as process:
        try:
            yield Operator(process, metrics)
        finally:
            process.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(0 if measure() else 1)
