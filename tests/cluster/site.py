"""What stories on real nodes are told with: kubectl, helm, the nodes, and somebody who writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from tools.cluster import cluster as machines
from tools.cluster import database as databases
from tools.cluster import images, links, nodes, plane
from tools.cluster import plan as places
from tools.cluster.database import Database
from tools.cluster.plan import Plan
from tools.cluster.shell import environment, inside
from tools.image import __main__ as image

from cluster import certificates
from cluster.table import ROWS, Row
from stateward.local.real import programs

PROJECT: Final = Path(__file__).parents[2]
OPERATOR: Final = "stateward"
EARLIER: Final = "stateward:earlier"
#: The line of FoundationDB releases that follows the one that clusters begin with.
LATER: Final = Database("7.4.5")
#: Where clusters are; both namespaces take only pods that Pod Security ``restricted`` lets in.
SHOP: Final = "shop"
#: What the operator looks after, but for the story in which that is everything.
NARROW: Final = f"watch.namespaces={{{SHOP}}}"
RESTRICTED: Final = {f"pod-security.kubernetes.io/{it}": "restricted" for it in ("enforce", "warn")}
_STEP: Final = 0.3
#: How long anything may take; a machine that is starved takes long.
PATIENCE: Final = 240.0
KIND: Final = "etcdclusters.etcd.aenix.io"


@dataclass(frozen=True)
class Site:
    """A cluster of real nodes with the operator in it."""

    plan: Plan
    #: The files of the commit before this one, if git has it.
    earlier: Path | None = None
    #: Which FoundationDB the nodes have an image of.
    database: Database = field(default_factory=Database)

    # ------------------------------------------------------------------ what users type
    def kubectl(self, *words: str, given: Any = None, patience: float = PATIENCE) -> str:
        """Run kubectl; it must end well."""
        return self._run([*plane.kubectl(self.plan), *words], given, patience)

    def helm(self, *words: str) -> str:
        """Run helm; it must end well."""
        found = programs.find(programs.HELM, "helm")
        assert found is not None
        own = ["--kubeconfig", str(self.plan.kubeconfig), "--namespace", OPERATOR]
        return self._run(inside(places.NAMESPACE, found.path, *words, *own), None, PATIENCE)

    def _run(self, argv: list[str], given: Any, patience: float) -> str:
        text = given if given is None or isinstance(given, str) else json.dumps(given)
        done = subprocess.run(
            argv,
            input=text,
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
            env=environment(),
        )
        assert done.returncode == 0, f"{' '.join(argv[2:])}: {done.stderr or done.stdout}"
        return done.stdout

    def apply(self, document: Any) -> None:
        """Apply something."""
        self.kubectl("apply", "--filename", "-", given=document)

    def asked(self, *words: str) -> Any:
        """Return what kubectl get shows, as a document; None when it is not there."""
        said = self.kubectl("get", *words, "--output=json", "--ignore-not-found")
        return json.loads(said) if said.strip() else None

    def listed(self, *words: str) -> list[Any]:
        """Return all that kubectl get shows; for nothing it shows nothing."""
        found = self.asked(*words)
        return list(found["items"]) if found else []

    # ------------------------------------------------------------------ clusters of etcd
    def create(self, name: str, **spec: Any) -> None:
        """Ask for a cluster; a member that is away for 10 s is replaced."""
        self.apply(cluster(name, SHOP, {"unhealthyMemberGracePeriod": "10s"} | spec))

    def edit(self, name: str, **spec: Any) -> None:
        """Change what a cluster shall be."""
        patch = json.dumps({"spec": spec})
        self.kubectl("-n", SHOP, "patch", KIND, name, "--type=merge", f"--patch={patch}")

    def shown(self, name: str) -> Any:
        """Return a cluster as it is."""
        return self.asked("-n", SHOP, KIND, name)

    def pods(self, name: str) -> dict[str, Any]:
        """Return the pods of a cluster by their names."""
        found = self.listed("-n", SHOP, "pods", f"--selector=app.kubernetes.io/instance={name}")
        return {it["metadata"]["name"]: it for it in found}

    def until_well(self, name: str, size: int) -> None:
        """Wait until a cluster is as its spec says, and at rest."""
        self.until(f"{name} is well with {size}", lambda: is_well(self.shown(name), size))

    def until(self, what: str, is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait until something is so; say what the operator says when it does not come."""
        end = time.monotonic() + patience
        while not is_so():
            if time.monotonic() > end:
                pytest.fail(f"{what}: not within {patience:g} s\n{self.told()}")
            time.sleep(_STEP)

    def told(self) -> str:
        """Return what there is to see, for a story that fails."""
        seen = self.kubectl(
            "get", f"{KIND},fdb,fdbpg,pods,nodes", "--all-namespaces", "--output=wide"
        )
        logs = ("-n", OPERATOR, "logs", f"--selector=app.kubernetes.io/name={OPERATOR}")
        try:
            return f"{seen}\n{self.kubectl(*logs, '--tail=40')}"
        except AssertionError as error:  # a node is away, and logs with it
            return f"{seen}\n{error}"

    # ------------------------------------------------------------------ what befalls it
    def kill(self, pod: Mapping[str, Any], number: int = signal.SIGKILL) -> None:
        """Kill the process of a member where it runs."""
        (status,) = pod["status"]["containerStatuses"]
        task = status["containerID"].removeprefix("containerd://")
        node = self.plan.node(int(pod["spec"]["nodeName"].removeprefix("node-")))
        ctr = ["ctr", "--address", str(node.socket), "--namespace", "k8s.io"]
        on = nodes.entering(self.plan, node)
        self._run([*on, *ctr, "tasks", "kill", "--signal", str(number), task], None, PATIENCE)

    def wipe(self, claim: str) -> None:
        """Take all that is on a volume away."""
        name = self.asked("-n", SHOP, "pvc", claim)["spec"]["volumeName"]
        self._run(["find", str(self.plan.volumes / name), "-mindepth", "1", "-delete"], None, 60)

    def cut(self, number: int) -> None:
        """Pull the cable of a node."""
        links.cut(self.plan.node(number))

    def heal(self, number: int) -> None:
        """Put it in again, and wait for the node."""
        links.heal(self.plan.node(number))
        self.until_ready(number)

    def power_off(self, number: int) -> None:
        """Take the power of a node away."""
        nodes.power_off(self.plan, self.plan.node(number))

    def power_on(self, number: int) -> None:
        """Boot a node, and wait for it."""
        nodes.power_on(self.plan, self.plan.node(number))
        self.until_ready(number)

    def until_ready(self, number: int) -> None:
        """Wait for a node."""
        self.kubectl("wait", "--for=condition=Ready", f"node/node-{number}", "--timeout=180s")

    def restart_api_server(self) -> None:
        """Kill the API server and start it again."""
        plane.stop_part(self.plan, "kube-apiserver", signal.SIGKILL)
        plane.start_part(self.plan, "kube-apiserver")
        plane.until_answering(self.plan)

    # ------------------------------------------------------------------ who measures
    @contextmanager
    def story(self, name: str, of: str = "", *, secure: bool = False) -> Iterator[None]:
        """Measure a story; with a cluster's name somebody writes to it all the time."""
        with self._writing(of, secure) if of else _nobody() as said:
            began = time.monotonic()
            yield
            took = time.monotonic() - began
        row = Row(name, took, said.get("gap"), said.get("acknowledged", 0), said.get("lost", 0))
        ROWS.append(row)
        if of:
            assert row.acknowledged > 0, "nothing was written"
            assert row.lost == 0, f"{row.lost} acknowledged writes are lost"

    @contextmanager
    def _writing(self, name: str, secure: bool) -> Iterator[dict[str, Any]]:
        own = [sys.executable, "-m", "tools.cluster.writing", str(self.plan.folder), SHOP, name]
        process = subprocess.Popen(
            inside(places.NAMESPACE, *own, *(["secure"] if secure else [])),
            cwd=PROJECT,
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        said: dict[str, Any] = {}
        try:
            time.sleep(3)  # it begins to write
            yield said
            process.send_signal(signal.SIGTERM)
            spoken, _ = process.communicate(timeout=PATIENCE)
            said.update(json.loads(spoken.splitlines()[-1]))
        finally:
            process.kill()
            process.wait()


@contextmanager
def _nobody() -> Iterator[dict[str, Any]]:
    yield {}


def cluster(name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a cluster of etcd, as users write it."""
    return {
        "apiVersion": "etcd.aenix.io/v1alpha1",
        "kind": "EtcdCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def is_well(found: Any, size: int) -> bool:
    """Tell whether a cluster has what its spec says, and nothing is being done."""
    if found is None or "status" not in found:
        return False
    status = found["status"]
    conditions = {it["type"]: it["status"] for it in status.get("conditions", [])}
    return (
        status.get("observedGeneration") == found["metadata"]["generation"]
        and conditions.get("Ready") == "True"
        and conditions.get("Progressing") == "False"
        and status.get("readyMembers") == f"{size}/{size}"
    )


@contextmanager
def brought_up(folder: Path) -> Iterator[Site]:
    """Have three nodes with the operator on them; afterwards nothing of them is left."""
    if why := machines.missing():
        pytest.skip(f"no cluster of real nodes here: {why}")
    plan = Plan(machines.default_folder().with_name("cluster-tests"))
    made, earlier = {image.NAME: folder / "image.tar"}, earlier_commit(folder / "earlier")
    assert image.main(["--output", str(made[image.NAME])]) == 0
    database = databases.of_this_machine()
    made[database.image] = databases.write(database, made[image.NAME], folder / "fdb.tar")
    if database.is_emulated:  # of real programs there is one version
        made[LATER.image] = databases.write(LATER, made[image.NAME], folder / "fdb-later.tar")
    sys.stdout.write(f"cluster: nodes have an image of {database}\n")
    if earlier is not None:
        made[EARLIER] = _image_of(earlier, folder / "earlier.tar")
    try:
        machines.up(plan, print, lambda: _hand_out(plan, made))
        site = Site(plan, earlier, database)
        for name in (OPERATOR, SHOP):
            about = {"name": name, "labels": RESTRICTED}
            site.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": about})
        site.apply(certificates.secret(OPERATOR, certificates.OPERATORS))
        install(site)
        yield site
    finally:
        machines.down(plan.folder, print)


def _hand_out(plan: Plan, made: Mapping[str, Path]) -> None:
    for name, archive in made.items():
        images.take(plan, archive, name)


def earlier_commit(folder: Path) -> Path | None:
    """Return the files of the commit before this one; None where git does not have it."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "-C", str(PROJECT), "archive", "HEAD~1"], stdout=subprocess.PIPE, check=False
    )
    if packed.returncode:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


def _image_of(tree: Path, archive: Path) -> Path:
    words = [sys.executable, "-m", "tools.image", "--output", str(archive)]
    env = {**os.environ, "PYTHONPATH": f"{tree / 'src'}:{tree}"}
    subprocess.run(words, cwd=tree, env=env, check=True)
    return archive


def install(site: Site, watched: str = NARROW) -> None:
    """Install the operator of this commit, or upgrade to it."""
    _install(site, PROJECT, watched)


def install_earlier(site: Site) -> None:
    """Go back to the operator of the commit before, by its own chart."""
    if site.earlier is None:
        pytest.skip("git does not have the commit before this one")
    _install(site, site.earlier, NARROW, "--set", f"image.tag={EARLIER.partition(':')[2]}")


def _install(site: Site, project: Path, watched: str, *more: str) -> None:
    chart = project / "deploy" / "chart"
    words, values = ["--set", watched], (chart / "values.yaml").read_text()
    if "tlsSecret:" in values:
        words += ["--set", f"foundationdb.tlsSecret={certificates.OPERATORS}"]
    if "binaries:" in values:
        words += ["--set", f"foundationdb.binaries[0].version={site.database.version}"]
        if site.database.is_emulated:
            words += ["--set", f"foundationdb.binaries[1].version={LATER.version}"]
    site.helm("upgrade", "--install", OPERATOR, str(chart), *words, "--wait", *more)
