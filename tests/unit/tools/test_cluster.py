"""The plan of a cluster of real nodes, what its programs are told, and how daemons are known again."""

from __future__ import annotations

import ipaddress
import json
import signal
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tools.cluster import __main__ as command
from tools.cluster import cluster, machine, manifests, settings
from tools.cluster import plan as places
from tools.cluster.plan import MOST_NODES, Plan
from tools.cluster.shell import ClusterFailed, does, pid_of, run, start, stop, until

from cluster.table import Row, _line

PLAN = Plan(Path("/there"), MOST_NODES)


def test_no_two_nodes_share_anything() -> None:
    own = ("address", "pods", "address6", "pods6", "namespace", "cable", "cgroup", "socket")
    for what in ("name", "zone", *own):
        assert len({getattr(it, what) for it in PLAN.nodes}) == MOST_NODES, what


def test_addresses_are_in_the_networks_that_never_leave() -> None:
    inside, inside6 = map(ipaddress.ip_network, (places.NETWORK, places.NETWORK6))
    for node in PLAN.nodes:
        assert ipaddress.IPv4Network(node.pods).subnet_of(inside)
        assert ipaddress.ip_address(node.address) in inside
        assert ipaddress.IPv6Network(node.pods6).subnet_of(inside6)
        assert ipaddress.ip_address(node.address6) in inside6
        assert len(node.cable) <= 15, "the kernel takes no longer names of links"
    services, services6 = map(ipaddress.ip_network, (places.SERVICES, places.SERVICES6))
    assert not services.overlaps(inside)
    assert not services6.overlaps(inside6)
    assert inside6.is_private
    assert services6.is_private
    assert ipaddress.ip_address(places.DNS_SERVICE) in services


def test_what_programs_are_told_can_be_read() -> None:
    node = PLAN.node(2)
    told = tomllib.loads(settings.containerd(node, Path("/plugins")))
    assert told["grpc"]["address"] == str(node.socket)
    kubelet = json.loads(settings.kubelet(PLAN, node))
    assert kubelet["cgroupRoot"] == f"/{node.cgroup}"
    assert kubelet["containerRuntimeEndpoint"] == f"unix://{node.socket}"
    (bridge,) = json.loads(settings.network(node))["plugins"]
    assert bridge["ipam"]["ranges"] == [[{"subnet": node.pods}], [{"subnet": node.pods6}]]
    assert not bridge["ipMasq"], "pods reach nothing beyond the cluster"
    assert json.loads(manifests.first_objects())["items"]


def test_a_plan_is_known_again(tmp_path: Path) -> None:
    assert cluster.kept_plan(tmp_path) == Plan(tmp_path)
    (tmp_path / "plan.json").write_text('{"size": 2, "grace": 5, "evict": 6}')
    assert cluster.kept_plan(tmp_path) == Plan(tmp_path, 2, 5, 6)


def test_who_may_not_make_namespaces_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "only root" in machine.missing()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: None if name == "runc" else f"/bin/{name}")
    assert machine.missing().startswith("runc")


# ------------------------------------------------------------------ whose it is
@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the machine belong to nobody."""
    monkeypatch.setattr(machine, "_OWNER", tmp_path / "owner")
    monkeypatch.setattr(cluster, "missing", lambda: "")
    return tmp_path


@pytest.mark.parametrize(
    "act", [lambda it: cluster.up(Plan(it), print), lambda it: cluster.down(it, print)]
)
def test_a_folder_of_somebody_is_left_alone(run_folder: Path, act: Callable[[Path], None]) -> None:
    thesis = run_folder / "work" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years")
    with pytest.raises(ClusterFailed, match=r"is not of a cluster|there is no cluster in"):
        act(thesis.parent)
    assert thesis.read_text() == "years"


def test_a_machine_has_one_cluster(run_folder: Path) -> None:
    machine.claim(run_folder / "one")
    machine.claim(run_folder / "one")
    for act in (machine.claim, lambda it: cluster.down(it, print)):
        with pytest.raises(ClusterFailed, match=r"the cluster of this machine is in .*/one"):
            act(run_folder / "two")
    machine.disclaim()
    assert machine.owner() is None


def test_what_somebody_else_uses_by_now_stays(run_folder: Path) -> None:
    plan = Plan(run_folder / "cluster")
    plan.records.mkdir(parents=True)
    ours, theirs = run_folder / "ours", run_folder / "theirs"
    (plan.records / "made").write_text(f"{ours}\n{theirs}")
    ours.mkdir()
    theirs.mkdir()
    (theirs / "file").touch()
    (plan.records / "kernel").write_text("kernel/none 1")  # of before the machine was started anew
    machine.put_back(plan)
    assert not ours.exists()
    assert (theirs / "file").exists()


@pytest.mark.parametrize("text", ["", "/", ".", "/a b", "/" + "a" * 80])
def test_odd_folders_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--folder", text, "down"])
    assert "must" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["in", "true"], ["node", "start", "2"]])
def test_nothing_can_be_done_without_a_cluster(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--folder", "/tmp/stateward-none", *words]) == 1
    assert "there is no cluster in" in capsys.readouterr().err


def test_a_broken_plan_is_one_of_the_usual_size(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("")
    assert cluster.kept_plan(tmp_path) == Plan(tmp_path)


# ------------------------------------------------------------------ daemons
def test_a_daemon_is_known_until_it_ends(tmp_path: Path) -> None:
    record, log = tmp_path / "it.pid", tmp_path / "it.log"
    pid = start([sys.executable, "-c", "input()"], record, log, env={})
    stop(record)  # its input has ended already, or it is told to
    assert pid_of(record) is None
    stop(record)
    assert pid > 0


def test_one_that_does_not_listen_is_ended_by_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.cluster.shell._STOP", 0.5)
    record, log = tmp_path / "it.pid", tmp_path / "it.log"
    deaf = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    start([sys.executable, "-c", deaf], record, log, env={})
    until("its first word", lambda: log.read_text() != "")
    assert pid_of(record) is not None
    stop(record, signal.SIGTERM)
    assert pid_of(record) is None


def test_another_process_with_its_number_is_not_it(tmp_path: Path) -> None:
    record = tmp_path / "it.pid"
    record.write_text("1\n17\n")  # the first process of the machine, born at another time
    assert pid_of(record) is None
    stop(record)
    assert not record.exists()


def test_a_command_that_fails_says_what_it_said() -> None:
    assert run("echo", "well").strip() == "well"
    assert not does("false")
    with pytest.raises(ClusterFailed, match="ended with 3: no"):
        run("sh", "-c", "echo no >&2; exit 3")
    with pytest.raises(ClusterFailed, match="the moon did not come within 0 s"):
        until("the moon", lambda: False, 0)


# ------------------------------------------------------------------ the table
@pytest.mark.parametrize(
    ("row", "line"),
    [
        (Row("create 3", 4.04), "create 3                                4.0                       12.0, 19.1"),
        (Row("lost disk", 20, 1.25, 300, 0), "lost disk                              20.0    1.2     300     0  never, 184"),
        (Row("deleted", 6.7), "deleted                                 6.7"),
    ],
)  # fmt: skip
def test_the_table(row: Row, line: str) -> None:
    assert _line(row) == line
