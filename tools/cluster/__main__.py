"""`python -m tools.cluster up|down|in|node`: a real Kubernetes to try things on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from stateward.local.real import programs
from tools.cluster import cluster, links, nodes
from tools.cluster import plan as places
from tools.cluster.plan import Plan
from tools.cluster.shell import ClusterFailed, environment, inside
from tools.image.errors import ImageImpossible

#: A socket of a node must fit into the 108 bytes that the kernel takes.
_LONGEST: Final = 70


def main(arguments: Sequence[str] | None = None) -> int:
    """Do it; return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        given.act(given)
    except (ClusterFailed, ImageImpossible, OSError) as error:
        print(f"cluster: {error}; `down` removes what there is", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("cluster: interrupted; `down` removes what there is", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.cluster", description=__doc__)
    parser.add_argument("--folder", type=_folder, default=cluster.default_folder())
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    up = verbs.add_parser("up", help="bring it up")
    up.add_argument("--nodes", type=int, default=3, choices=range(1, places.MOST_NODES + 1))
    up.set_defaults(act=_up)
    verbs.add_parser("down", help="end it and remove all of it").set_defaults(act=_down)
    within = verbs.add_parser("in", help="run a command in its network, or on a node")
    within.add_argument("-n", "--node", type=int, help="this node's network, mounts and processes")
    within.add_argument("command", nargs=argparse.REMAINDER)
    within.set_defaults(act=_in)
    node = verbs.add_parser("node", help="lose a node, bring it back, cut it off, heal it")
    node.add_argument("what", choices=("stop", "start", "cut", "heal"))
    node.add_argument("number", type=int)
    node.set_defaults(act=_node)
    return parser


def _folder(text: str) -> Path:
    """Return a folder that sockets and mounts can be in."""
    path = Path(text).resolve()
    if not text or path in (Path("/"), Path.home(), Path.cwd()) or any(map(str.isspace, str(path))):
        raise argparse.ArgumentTypeError("must be a folder for a cluster alone, without spaces")
    if len(str(path)) > _LONGEST:
        raise argparse.ArgumentTypeError(f"must have at most {_LONGEST} letters")
    return path


def _tell(line: str) -> None:
    print(f"cluster: {line}", flush=True)


def _up(given: argparse.Namespace) -> None:
    cluster.up(Plan(given.folder, given.nodes), _tell)


def _down(given: argparse.Namespace) -> None:
    cluster.down(given.folder, _tell)


def _in(given: argparse.Namespace) -> None:
    plan = _plan(given.folder)
    known = {programs.find(part, part.programs[0]) for part in programs.CLUSTER_PARTS}
    path = [str(it.path.parent) for it in known if it] + [os.environ.get("PATH", "")]
    env = {**environment(), "KUBECONFIG": str(plan.kubeconfig), "PATH": ":".join(path)}
    words = inside(places.NAMESPACE, *given.command)
    if given.node is not None:
        node = _chosen(plan, given.node)
        words = [*nodes.entering(plan, node), f"--wdns={Path.cwd()}", *given.command]
        env |= {"CONTAINERD_ADDRESS": str(node.socket), "CONTAINERD_NAMESPACE": "k8s.io"}
    os.execvpe(words[0], words, env)  # noqa: S606 - that is the verb


def _node(given: argparse.Namespace) -> None:
    plan = _plan(given.folder)
    node = _chosen(plan, given.number)
    acts = {
        "stop": lambda: nodes.power_off(plan, node),
        "start": lambda: nodes.power_on(plan, node),
        "cut": lambda: links.cut(node),
        "heal": lambda: links.heal(node),
    }
    acts[given.what]()


def _plan(folder: Path) -> Plan:
    if not cluster.is_ours(folder):
        raise ClusterFailed(f"there is no cluster in {folder}, `up` makes one")
    return cluster.kept_plan(folder)


def _chosen(plan: Plan, number: int) -> places.Node:
    if not 1 <= number <= plan.size:
        raise ClusterFailed(f"the node must be one of 1 to {plan.size}, got {number}")
    return plan.node(number)


if __name__ == "__main__":
    sys.exit(main())
