"""What a person sees who has kubectl and `stateward operator`, and FoundationDB in pods."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from local.clusters import STATEWARD, Kubectl, processes_with, until
from operators.fdb.fdb_worlds import PACE, PACE_VARIABLE, PATIENCE, VERSION, manifest
from real.clusters import RunningCluster
from stateward.app.kinds import PRODUCTS, definitions
from stateward.core.ports import Ports

#: One blank is part of a cell, more of them are between two.
COLUMNS = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with kubectl, in a namespace of their own, on a cluster that this worker shares."""

    kubectl: Kubectl
    namespace: str
    folder: Path

    def __call__(self, *words: str, stdin: str = "", code: int | None = 0) -> str:
        return self.kubectl("-n", self.namespace, *words, stdin=stdin, code=code)

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "-o", "json"))

    def rows(self, *words: str) -> list[dict[str, str]]:
        """Return what `kubectl get` shows, by its columns."""
        head, *lines = self("get", *words).splitlines()
        places = [it.start() for it in re.finditer(r"\S+", head)]
        names, ends = head.split(), [*places[1:], None]
        return [
            {n: line[a:b].strip() for n, a, b in zip(names, places, ends, strict=True)}
            for line in lines
        ]

    def reconciled(self, generation: int) -> None:
        """Wait until the cluster is as it was asked to be."""
        path = "jsonpath={.status.generations.reconciled}"
        until(
            f"generation {generation} is reconciled",
            lambda: self("get", "fdb", "shop", "-o", path) == str(generation),
            within=PATIENCE,
        )

    def fdbcli(self, line: str) -> str:
        """Return what fdbcli in a pod's image answers to a line."""
        found = self("get", "fdb", "shop", "-o", "jsonpath={.status.connectionString}")
        file = self.folder / "fdb.cluster"
        file.write_text(found + "\n")
        programs = self.kubectl.kubeconfig.parent / "fdb" / VERSION / "bin"
        program = programs / "fdbcli" if programs.is_dir() else "fdbcli"
        ended = subprocess.run(
            [str(program), "-C", str(file), "--exec", line, "--timeout", "30"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {PACE_VARIABLE: PACE},
        )
        return ended.stdout

    def storage(self) -> str:
        """Return the name of a group that keeps data, and of its pod."""
        chosen = "foundationdb.org/fdb-process-class=storage"
        found: str = self.json("get", "fdbpg", "-l", chosen)["items"][0]["metadata"]["name"]
        return found


@contextmanager
def operating(person: Person) -> Iterator[Path]:
    """Run the operator as a process; it must end when it is told to."""
    log = person.folder / "operator.log"
    root = person.kubectl.kubeconfig.parent
    words = ["--kubeconfig", str(person.kubectl.kubeconfig), "--addresses", str(root)]
    words += ["--product", "foundationdb", "--namespace", person.namespace, "--log-format", "json"]
    words += ["--no-leader-election", "--metrics-address", "127.0.0.1:0", "--probe-address", "0"]
    temporary = person.folder / "operator"
    temporary.mkdir()
    environment = os.environ | {PACE_VARIABLE: PACE, "TMPDIR": str(temporary)}
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [str(STATEWARD), "operator", *words], stderr=stream, stdout=stream, env=environment
        )
    try:
        yield log
        process.send_signal(signal.SIGTERM)
        assert process.wait(40) == 0, log.read_text()
        assert not list(temporary.iterdir()), "it leaves no files behind"
        assert not processes_with(str(temporary)), "nor programs"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def person(cluster: RunningCluster, tmp_path: Path) -> Person:
    kubectl = cluster.kubectl
    name = f"fdb-{Ports.of_this_machine().chance.suffix(6)}"
    kubectl("create", "namespace", name)
    documents = yaml.safe_dump_all(definitions(PRODUCTS).values())
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=documents)
    it = Person(kubectl, name, tmp_path)
    for kind in ("fdb", "fdbpg"):
        until(f"{kind} is served", lambda kind=kind: "No resources" in it("get", kind, code=None))
    return it


def servers(person: Person, group: str) -> set[int]:
    """Return the processes of fdbserver of a group."""
    found = processes_with(str(person.kubectl.kubeconfig.parent))
    return {it for it in found if _is_server(it, group)}


def _is_server(process: int, group: str) -> bool:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False  # it ended meanwhile
    wanted = group.removeprefix("shop-")
    return "--public_address=" in words and f"locality_instance_id={wanted}\0" in words


def written_by(person: Person) -> dict[str, set[str]]:
    """Return which parts of process groups each writer owns, by what the server has on record."""
    found: dict[str, set[str]] = {}
    for it in person.json("get", "fdbpg", "--show-managed-fields")["items"]:
        for entry in it["metadata"]["managedFields"]:
            parts = {name.removeprefix("f:") for name in entry["fieldsV1"]}
            found.setdefault(entry["manager"], set()).update(parts & {"spec", "status"})
    return found


def test_a_person_with_kubectl_makes_harms_and_deletes_a_cluster(
    person: Person, patience: None
) -> None:
    with operating(person) as log:
        text = yaml.safe_dump(manifest("shop", person.namespace))
        assert "created" in person("apply", "-f", "-", stdin=text)
        person.reconciled(1)
        assert written_by(person) == {
            "stateward-foundationdb": {"spec"},
            "stateward-foundationdb-groups": {"status"},
        }
        (row,) = person.rows("fdb")
        assert {it: row[it] for it in ("NAME", "RECONCILED", "AVAILABLE", "DOING")} == {
            "NAME": "shop",
            "RECONCILED": "1",
            "AVAILABLE": "true",
            "DOING": "nothing to do",
        }
        emulated = "EMULATED" in person.fdbcli("status").partition("\n")[0]
        assert row["VERSION"] == (f"{VERSION} EMULATED" if emulated else VERSION)
        groups = person.rows("fdbpg")
        assert len(groups) == 3 + 4 + 3
        until("all groups say so", lambda: {it["READY"] for it in person.rows("fdbpg")} == {"True"})
        assert len({it["ZONE"] for it in person.rows("fdbpg")}) == 3
        assert "unchanged" in person("apply", "-f", "-", stdin=text)
        assert "Committed" in person.fdbcli("writemode on; set kept here")

        # A pod that is deleted comes back with its disk.
        group = person.storage()
        before = person.json("get", "pod", group)["metadata"]["uid"]
        person("delete", "pod", group)
        until("another pod", lambda: _runs_anew(person, group, before), within=PATIENCE)

        # A process that is killed is started again.
        until("it serves", lambda: servers(person, group), within=PATIENCE)
        (killed, *_) = servers(person, group)
        os.kill(killed, signal.SIGKILL)
        until("another process", lambda: servers(person, group) - {killed}, within=PATIENCE)
        until("the data is there", lambda: "is `here'" in person.fdbcli("get kept"))
        person.reconciled(1)

        # What is deleted goes, but not the disks.
        claims = {it["metadata"]["name"] for it in person.json("get", "pvc")["items"]}
        person("delete", "fdb", "shop")
        until("no pod", lambda: not person.json("get", "pods,fdbpg")["items"], within=PATIENCE)
        assert {it["metadata"]["name"] for it in person.json("get", "pvc")["items"]} == claims
        assert len(claims) == 7
        assert '"level": "error"' not in log.read_text()


def _runs_anew(person: Person, name: str, before: str) -> bool:
    found = person.json("get", "pods")["items"]
    pods = [it for it in found if it["metadata"]["name"] == name]
    return any(it["metadata"]["uid"] != before and "podIP" in it["status"] for it in pods)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({"proceses": {}}, 'unknown field "spec.proceses"'),
        ({"version": "7.3"}, "version must be three numbers with dots between, as in 7.3.63"),
        ({"version": "6.2.11"}, "version must be 7.1.0 or later"),
        (
            {"databaseConfiguration": {"redundancy_mode": "dubble"}},
            "redundancy_mode must be one of single, double, triple",
        ),
    ],
    ids=str,
)
def test_a_slip_in_a_manifest_is_refused_with_a_sentence(
    person: Person, spec: dict[str, Any], sentence: str
) -> None:
    text = yaml.safe_dump(manifest("shop", person.namespace, **spec))
    assert sentence in person("create", "-f", "-", stdin=text, code=1)
