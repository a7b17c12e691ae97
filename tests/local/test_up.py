"""`stateward local up`, as a user meets it: it comes up, ends, is killed, and comes back."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from local.clusters import EXAMPLES, kubectl_for, stateward, until, up
from stateward.core.chance import Chance
from stateward.core.clock import SystemClock
from stateward.core.errors import StatewardError
from stateward.kube.http.client import HttpClient, Limits
from stateward.kube.http.kubeconfig import from_kubeconfig
from stateward.kube.resources import CONFIG_MAPS
from stateward.local.agent import orphans

READY = "Ctrl-C ends it"


def test_it_comes_up_is_seen_and_leaves_nothing_behind(tmp_path: Path, control_plane: str) -> None:
    with up(tmp_path, "--control-plane", control_plane, "--nodes", "2", "--zones", "1") as cluster:
        cluster.read_until(READY)
        until(
            "two nodes are ready",
            lambda: "2 of 2 ready" in stateward(tmp_path, "local", "status").stdout,
        )
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("apply", "-f", str(EXAMPLES / "web.yaml"))
        kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
        logs = stateward(tmp_path, "local", "logs", "web-0", "--tail", "5")
        assert logs.returncode == 0, logs.stderr
        assert len(cluster.offspring()) > 3
        assert cluster.interrupt() == 0

    assert "local: nothing is left running" in cluster.said[-1]
    assert not cluster.offspring()
    assert not list((tmp_path / f"stateward-{tmp_path.stat().st_uid}").iterdir())
    gone = stateward(tmp_path, "local", "status")
    assert gone.returncode == 2
    assert "no local cluster runs" in gone.stderr


def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    data, chance = tmp_path / "data", Chance(1)
    acknowledged: set[str] = set()
    for life in range(4):
        with up(tmp_path, "--data", str(data), "--nodes", "1") as cluster:
            cluster.read_until(READY)
            assert acknowledged <= asyncio.run(_names(cluster.kubeconfig))
            writes = asyncio.run(_write_until_killed(cluster, life, chance.below(150)))
            acknowledged |= writes

    with up(tmp_path, "--data", str(data), "--nodes", "1") as cluster:
        cluster.read_until(READY)
        assert acknowledged <= asyncio.run(_names(cluster.kubeconfig))
    assert len(acknowledged) > 50


async def _write_until_killed(cluster, life: int, after: int) -> set[str]:
    """Write with several writers, kill the server when some were acknowledged, return which."""
    done: set[str] = set()

    async def write(writer: int) -> None:
        for number in range(1000):
            name = f"life-{life}-{writer}-{number}"
            await client.create(CONFIG_MAPS, {"metadata": {"namespace": "default", "name": name}})
            done.add(name)
            if len(done) == after:
                cluster.process.kill()

    access = from_kubeconfig([cluster.kubeconfig], {})
    async with HttpClient(access, SystemClock(), Chance(life), limits=Limits(attempts=1)) as client:
        results = await asyncio.gather(*(write(n) for n in range(4)), return_exceptions=True)
    assert all(isinstance(it, StatewardError) for it in results), results
    cluster.wait()
    return done


async def _names(kubeconfig: Path) -> set[str]:
    access = from_kubeconfig([kubeconfig], {})
    async with HttpClient(access, SystemClock(), Chance(1)) as client:
        return {it.metadata.name for it in (await client.list(CONFIG_MAPS)).items}


def test_pods_of_a_killed_cluster_are_ended_and_come_back_with_their_volumes(
    tmp_path: Path, control_plane: str
) -> None:
    words = ("--control-plane", control_plane, "--data", str(tmp_path / "data"), "--nodes", "1")
    with up(tmp_path, *words) as cluster:
        cluster.read_until(READY)
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("apply", "-f", str(EXAMPLES / "web.yaml"))
        kubectl("rollout", "status", "statefulset/web", "--timeout=60s")
        before = {
            it["metadata"]["name"]: it["status"]["podIP"]
            for it in kubectl.json("get", "pods")["items"]
        }
        assert [_count(before["web-0"]) for _ in range(2)] == [1, 2]
        cluster.kill()
    left = cluster.offspring()
    assert left, "a kill -9 leaves the pods behind"

    with up(tmp_path, *words) as cluster:
        cluster.read_until(READY)
        until("the old processes are ended", lambda: not left & cluster.offspring())
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("wait", "pods", "--all", "--for=condition=Ready", "--timeout=60s")
        pods = kubectl.json("get", "pods")["items"]
        assert {it["metadata"]["name"]: it["status"]["podIP"] for it in pods} == before
        assert _count(before["web-0"]) == 3, "the volume is the same"
    assert not cluster.offspring()


def _count(address: str) -> int:
    """Have a web server count in its volume, and say how far it is."""
    with urllib.request.urlopen(f"http://{address}:8080/count", timeout=5) as answer:
        return int(answer.read())


def test_what_a_killed_temporary_cluster_left_is_cleared_away(
    tmp_path: Path, control_plane: str
) -> None:
    with up(tmp_path, "--control-plane", control_plane, "--nodes", "1") as cluster:
        cluster.read_until(READY)
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("run", "sleeper", "--image=busybox", "--", "sleep", "1000")
        kubectl("wait", "pod/sleeper", "--for=condition=Ready", "--timeout=60s")
        cluster.kill()
    left, root = cluster.offspring(), cluster.kubeconfig.parent
    assert left
    told = stateward(tmp_path, "local", "status")
    assert told.returncode == 2
    _says_it_was_killed(told.stderr, root)

    with up(tmp_path, "--control-plane", control_plane, "--nodes", "0") as cluster:
        cluster.read_until(READY)
        assert any("cleared away a killed cluster and" in line for line in cluster.said)
        assert not left & cluster.offspring()
        assert not root.exists()
        assert "0 of 0 ready" in stateward(tmp_path, "local", "status").stdout
    assert not cluster.offspring()


def _says_it_was_killed(told: str, folder: Path) -> None:
    """How many run on is not told: a program whose words nobody hears any more may end by itself."""
    found = re.search(rf"in {re.escape(str(folder))} was killed, and (\d+) of its processes", told)
    assert found, told
    assert int(found[1]) > 0


def test_a_reset_ends_what_a_killed_cluster_left(tmp_path: Path, control_plane: str) -> None:
    data = tmp_path / "data"
    words = ("--control-plane", control_plane, "--data", str(data), "--nodes", "1")
    with up(tmp_path, *words) as cluster:
        cluster.read_until(READY)
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("run", "sleeper", "--image=busybox", "--", "sleep", "1000")
        kubectl("wait", "pod/sleeper", "--for=condition=Ready", "--timeout=60s")
        cluster.kill()
    assert cluster.offspring()
    for which in ([], ["--data", str(data)]):
        told = stateward(tmp_path, "local", "status", *which)
        _says_it_was_killed(told.stderr, data)

    assert stateward(tmp_path, "local", "reset", "--data", str(data), "--yes").returncode == 0
    assert not cluster.offspring()
    assert not list(data.iterdir())
    assert "no local cluster runs" in stateward(tmp_path, "local", "status").stderr


def test_a_copy_of_a_folder_runs_beside_its_original(tmp_path: Path, control_plane: str) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    words = ("--control-plane", control_plane, "--nodes", "1", "--data")
    data.mkdir(mode=0o755)
    with up(tmp_path, *words, str(data)) as cluster:
        cluster.read_until(READY)
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("run", "sleeper", "--image=busybox", "--", "sleep", "1000")
        kubectl("wait", "pod/sleeper", "--for=condition=Ready", "--timeout=60s")
        before = _processes(data)
        shutil.copytree(data, copy)

        with up(tmp_path, *words, str(copy)) as second:
            second.read_until(READY)
            until("the copy has processes of its own", lambda: _processes(copy))
        reset = stateward(tmp_path, "local", "reset", "--data", str(copy), "--yes")

        assert reset.returncode == 0, reset.stderr
        assert _processes(data) == before
        assert not [it for it in cluster.said if "started again" in it]
        private = ["nodes"] if control_plane == "embedded" else ["nodes", "plane", "plane/log"]
        assert {(data / it).stat().st_mode & 0o777 for it in private} == {0o700}


def _processes(data: Path) -> set[int]:
    """Return what runs of a cluster: pods, and a control plane that is not ours."""
    return {pid for it in ("nodes", "plane") for pid in orphans.left_in(data / it)}


def test_a_folder_that_is_removed_under_it_is_no_reason_to_leave_something(
    tmp_path: Path, control_plane: str
) -> None:
    data = tmp_path / "data"
    words = ("--control-plane", control_plane, "--nodes", "1", "--data", str(data))
    with up(tmp_path, *words) as cluster:
        cluster.read_until(READY)
        kubectl = kubectl_for(cluster.kubeconfig, tmp_path)
        kubectl("run", "sleeper", "--image=busybox", "--", "sleep", "1000")
        kubectl("wait", "pod/sleeper", "--for=condition=Ready", "--timeout=60s")
        shutil.rmtree(data, ignore_errors=True)
        assert cluster.interrupt() == 0

    assert "local: nothing is left running" in cluster.said[-1]
    assert not cluster.offspring()


def test_ctrl_c_is_heard_while_it_starts(tmp_path: Path, control_plane: str) -> None:
    with up(tmp_path, "--control-plane", control_plane) as cluster:
        until("it has begun", lambda: list(tmp_path.glob("stateward-*/cluster-*/stateward.lock")))
        assert cluster.interrupt() == 0

    assert "local: nothing is left running" in cluster.said[-1]
    assert not cluster.offspring()


def test_a_cluster_that_does_not_answer_is_said_to_be_so(tmp_path: Path) -> None:
    with up(tmp_path, "--nodes", "1") as cluster:
        cluster.read_until(READY)
        cluster.process.send_signal(signal.SIGSTOP)
        try:
            silent = stateward(tmp_path, "local", "status")
        finally:
            cluster.process.send_signal(signal.SIGCONT)

    assert silent.returncode == 1
    assert f"(process {cluster.process.pid}) must answer within 5 s" in silent.stderr


def test_a_port_in_use_is_one_sentence(tmp_path: Path, control_plane: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = stateward(tmp_path, "local", "up", "--control-plane", control_plane, "--port", port)

    assert ended.returncode == 2
    assert f"127.0.0.1:{port} must be free to listen on" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_two_clusters_on_one_folder_is_one_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with up(tmp_path, "--data", str(data)) as cluster:
        cluster.read_until(READY)
        second = stateward(tmp_path, "local", "up", "--data", str(data))
        reset = stateward(tmp_path, "local", "reset", "--data", str(data), "--yes")

    for ended in (second, reset):
        assert ended.returncode == 2
        assert f"in use by another cluster (process {cluster.process.pid})" in ended.stderr


@pytest.mark.parametrize(
    ("made_by", "left", "other"),
    [("embedded", "journal", "real"), ("real", "plane", "embedded")],
)
def test_a_folder_of_another_kind_of_control_plane_is_one_sentence(
    tmp_path: Path, made_by: str, left: str, other: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("stateward.lock", left):
        (data / name).touch()
    ended = stateward(tmp_path, "local", "up", "--data", str(data), "--control-plane", other)

    assert ended.returncode == 2
    assert f"{data} must be used with --control-plane {made_by}" in ended.stderr


def test_programs_that_are_missing_are_named_and_how_to_get_them(tmp_path: Path) -> None:
    nothing = {"PATH": "", "KUBEBUILDER_ASSETS": "", "STATEWARD_ETCD_BIN": ""}
    nowhere = nothing | {"XDG_CACHE_HOME": str(tmp_path)}
    ended = stateward(tmp_path, "local", "up", "--control-plane", "real", **nowhere)

    assert ended.returncode == 2
    assert "etcd, kube-apiserver, kube-controller-manager, kube-scheduler" in ended.stderr
    assert "`make real`" in ended.stderr
    assert "KUBEBUILDER_ASSETS" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("broken", ["journal", "tail"])
def test_a_corrupt_journal_is_repaired_and_said_aloud(tmp_path: Path, broken: str) -> None:
    data = tmp_path / "data"
    with up(tmp_path, "--data", str(data), "--nodes", "1") as cluster:
        cluster.read_until(READY)
    with (data / "journal").open("ab") as journal:
        journal.write(
            b"0badc0de 9999 + configmaps {" if broken == "tail" else b"\xff\x00garbage\n" * 100
        )

    with up(tmp_path, "--data", str(data), "--nodes", "1") as cluster:
        cluster.read_until(READY)
        assert any("repaired to the last whole record" in line for line in cluster.said)
