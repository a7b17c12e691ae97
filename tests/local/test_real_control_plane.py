"""A real control plane with our nodes and volumes: what only it has, and what happens when its parts die.

What it has in common with the embedded one is told in the other modules of this folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from local.clusters import Command, Kubectl, kubectl_for, stateward, until, up
from stateward.core.errors import UsageError
from stateward.core.ports import Ports
from stateward.local.real.plane import API, ETCD, MANAGER, SCHEDULER, Plane, PlaneTerms

READY = "Ctrl-C ends it"
REAL = ("--control-plane", "real")
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
#: Asks the API server who it is, with nothing but what every pod gets.
WHO_AM_I = f"""
curl -s --cacert {ACCOUNT}/ca.crt -H "Authorization: Bearer $(cat {ACCOUNT}/token)" \
  -H "Content-Type: application/json" \
  -d '{{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}' \
  https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/apis/authentication.k8s.io/v1/selfsubjectreviews
cat {ACCOUNT}/namespace
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: busybox
      command: [sh, -c, "echo kept > /data/file; sleep 1000"]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: disk}}]
"""


class Running(NamedTuple):
    command: Command
    kubectl: Kubectl

    @property
    def root(self) -> Path:
        return self.command.kubeconfig.parent

    def part(self, name: str) -> int:
        """Return the process of a part of the control plane, 0 when it does not run."""
        for record in (self.root / "plane" / "processes").iterdir():
            words = _words(int(record.name))
            if words and Path(words[0]).name == name:
                return int(record.name)
        return 0

    def programs(self, word: str) -> list[int]:
        """Return the processes of pods that were started with a word."""
        return [pid for pid in self.command.offspring() if word in _words(pid)]


def _words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    temporary = tmp_path_factory.mktemp("cluster")
    with up(temporary, *REAL, "--nodes", "2") as command:
        command.read_until(READY)
        yield Running(command, kubectl_for(command.kubeconfig, temporary))


@pytest.fixture
def kubectl(live: Running) -> Iterator[Kubectl]:
    yield live.kubectl
    live.kubectl("delete", "pods,pvc", "--all", "--grace-period=1")


def pod(kubectl: Kubectl, name: str) -> Any:
    return kubectl.json("get", "pod", name)


def run(kubectl: Kubectl, name: str, script: str, *words: str) -> None:
    kubectl("run", name, "--image=busybox", *words, "--", "sh", "-c", script)


def wait_ready(kubectl: Kubectl, *names: str) -> None:
    kubectl("wait", *(f"pod/{it}" for it in names), "--for=condition=Ready", "--timeout=30s")


def test_it_is_a_real_one_and_its_nodes_are_ready(live: Running) -> None:
    until("nodes are ready", lambda: live.kubectl("get", "nodes").count(" Ready ") == 2)
    version = live.kubectl.json("version")["serverVersion"]["gitVersion"]
    node = live.kubectl.json("get", "node", "node-1")

    assert "stateward" not in version
    assert not node["spec"].get("taints"), "the controllers have seen that it is ready"
    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] > 0
    assert live.kubectl.json("get", "lease", "node-1", "-n", "kube-node-lease")["spec"]["renewTime"]


def test_a_pod_talks_to_the_api_as_its_account(kubectl: Kubectl) -> None:
    run(kubectl, "asks", WHO_AM_I, "--restart=Never")
    kubectl("wait", "pod/asks", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=30s")
    told = kubectl("logs", "asks")

    assert '"username": "system:serviceaccount:default:default"' in told
    assert '"authentication.kubernetes.io/pod-name"' in told
    assert told.rstrip().endswith("default")


def test_logs_by_way_of_the_api_server(live: Running, kubectl: Kubectl) -> None:
    run(kubectl, "talks", "for n in 1 2 3; do echo line $n; done; sleep 2; echo last; sleep 1000")
    run(kubectl, "fails", "echo about to fail; exit 3")
    kubectl("run", "odd", "--image=example.com/nobody/knows:1")
    wait_ready(kubectl, "talks")

    assert kubectl("logs", "talks", "--tail=2").splitlines()[0] == "line 2"
    assert kubectl("logs", "talks", "--limit-bytes=6") == "line 1"
    assert kubectl("logs", "talks", "--timestamps").startswith("20")
    words = [kubectl.program, "--kubeconfig", str(kubectl.kubeconfig), "logs", "-f", "talks"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as followed:
        assert followed.stdout is not None
        assert [followed.stdout.readline() for _ in range(4)][-1] == "last\n"
        kubectl("delete", "pod", "talks", "--grace-period=1")
        assert followed.wait(timeout=30) == 0, "a log that is followed ends with its container"

    until("it has failed twice", lambda: _restarts(kubectl, "fails") >= 1)
    assert "about to fail" in kubectl("logs", "fails", "--previous")
    until("it is refused", lambda: "ImagePull" in kubectl("get", "pod", "odd"))
    refused = kubectl("logs", "odd", code=1)
    assert 'container "odd" in pod "odd" is waiting to start: ' in refused
    assert "container nope is not valid for pod odd" in kubectl("logs", "odd", "-c", "nope", code=1)
    assert "about to fail" in stateward(live.command.temporary, "local", "logs", "fails").stdout


def _restarts(kubectl: Kubectl, name: str) -> int:
    statuses = pod(kubectl, name)["status"].get("containerStatuses") or [{"restartCount": 0}]
    return int(statuses[0]["restartCount"])


def test_a_killed_container_is_started_again(live: Running, kubectl: Kubectl) -> None:
    run(kubectl, "victim", "exec sleep 1234")
    wait_ready(kubectl, "victim")
    uid = pod(kubectl, "victim")["metadata"]["uid"]
    os.kill(live.programs("1234")[0], signal.SIGKILL)

    until("it was started again", lambda: _restarts(kubectl, "victim") == 1)
    wait_ready(kubectl, "victim")
    last = pod(kubectl, "victim")["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert last["exitCode"] == 137
    assert pod(kubectl, "victim")["metadata"]["uid"] == uid


def test_a_volume_is_made_grows_and_goes_with_its_claim(live: Running, kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLAIM)
    wait_ready(kubectl, "writer")
    name = kubectl.json("get", "pvc", "disk")["spec"]["volumeName"]
    folder = live.root / "nodes" / "volumes" / name
    until("it was written", (folder / "file").exists)
    bigger = '{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}'
    kubectl("patch", "pvc", "disk", "-p", bigger)
    until("it has grown", lambda: "2Gi" in kubectl("get", "pvc", "disk"))
    assert "2Gi" in kubectl("get", "pv", name)

    kubectl("delete", "pod", "writer", "--grace-period=1")
    assert (folder / "file").read_text() == "kept\n"
    kubectl("delete", "pvc", "disk")
    until("the volume is gone", lambda: name not in kubectl("get", "pv"))
    until("its folder is gone", lambda: not folder.exists())


@pytest.mark.parametrize("part", [API, ETCD, MANAGER, SCHEDULER])
def test_a_killed_part_comes_back_and_pods_go_on(
    live: Running, kubectl: Kubectl, part: str
) -> None:
    run(kubectl, "lasting", "exec sleep 4321")
    wait_ready(kubectl, "lasting")
    before, was = pod(kubectl, "lasting"), live.part(part)
    program = live.programs("4321")
    os.kill(was, signal.SIGKILL)

    live.command.read_until(f"local: {part} was killed by SIGKILL; started again in")
    until("it runs again", lambda: live.part(part) not in {0, was})
    until("the server answers", lambda: kubectl("get", "--raw", "/readyz", code=None) == "ok")
    until("a new pod is run", lambda: "created" in _try_to_run(kubectl, "next"))
    wait_ready(kubectl, "next")
    after = pod(kubectl, "lasting")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert _restarts(kubectl, "lasting") == 0
    assert live.programs("4321") == program


def _try_to_run(kubectl: Kubectl, name: str) -> str:
    return kubectl("run", name, "--image=busybox", "--", "sleep", "1000", code=None)


def test_nodes_stay_ready_for_longer_than_they_may_be_silent(live: Running) -> None:
    """They are lost after 20 s; this one runs last, when they are old enough."""
    ages = live.kubectl.json("get", "nodes")["items"]
    made = min(it["metadata"]["creationTimestamp"] for it in ages)
    until("a minute is over", lambda: made < _ago(60), within=70)

    told = live.kubectl("get", "events", "-A")
    assert "NodeNotReady" not in told
    assert live.kubectl("get", "nodes").count(" Ready ") == 2


def _ago(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds))


async def test_a_part_that_cannot_start_is_noticed_at_once_with_its_last_words(
    tmp_path: Path,
) -> None:
    terms = PlaneTerms(extra={API: ("--no-such-flag",)}, controllers="", schedules=False)
    plane, began = Plane(tmp_path, Ports.of_this_machine(), terms), time.monotonic()

    with pytest.raises(
        UsageError, match=r"kube-apiserver ended at its start.*no-such-flag"
    ) as told:
        async with plane.running():
            pass
    assert "DIR/plane/log" in told.value.sentence()
    assert time.monotonic() - began < 30
