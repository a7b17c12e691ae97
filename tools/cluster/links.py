"""Network namespaces and the cables between them: no address or route of the machine changes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from tools.cluster import plan as places
from tools.cluster.plan import Node, Plan
from tools.cluster.shell import does, inside, run

#: A fixed address: otherwise that of the switch would change as cables come and go.
_HARDWARE: Final = "02:00:0a:fc:00:01"
_NAMESPACES: Final = Path("/run/netns")


def lay_switch() -> None:
    """Make the network of the control plane."""
    here = places.NAMESPACE
    run("ip", "netns", "add", here)
    own = ("ip", "-n", here)
    run(*own, "link", "set", "lo", "up")
    run(*own, "link", "add", places.SWITCH, "address", _HARDWARE, "type", "bridge")
    run(*own, "addr", "add", f"{places.CONTROL}/24", "dev", places.SWITCH)
    run(*own, "addr", "add", f"{places.CONTROL6}/64", "dev", places.SWITCH, "nodad")
    run(*own, "link", "set", places.SWITCH, "up")
    # Only to have a route: kube-proxy replaces where it leads to.
    run(*own, "route", "add", places.SERVICES, "dev", places.SWITCH, "src", places.CONTROL)
    _forward(here)
    _set(here, "net/bridge/bridge-nf-call-iptables", "0", optional=True)  # a switch only switches


def plug_in(plan: Plan, node: Node) -> None:
    """Give a node a network, and a cable to the switch."""
    unplug(node)
    run("ip", "netns", "add", node.namespace)
    peer = ("type", "veth", "peer", "name", "eth0", "netns", node.namespace)
    switch = ("ip", "-n", places.NAMESPACE)
    run(*switch, "link", "add", node.cable, *peer)
    run(*switch, "link", "set", node.cable, "master", places.SWITCH, "up")
    own = ("ip", "-n", node.namespace)
    run(*own, "link", "set", "lo", "up")
    run(*own, "addr", "add", f"{node.address}/24", "dev", "eth0")
    run(*own, "addr", "add", f"{node.address6}/64", "dev", "eth0", "nodad")
    run(*own, "link", "set", "eth0", "up")
    for other in plan.nodes:
        if other != node:
            run(*own, "route", "add", other.pods, "via", other.address)
            run(*own, "route", "add", other.pods6, "via", other.address6)
    run(*own, "route", "add", places.SERVICES, "dev", "eth0", "src", node.address)
    run(*switch, "route", "replace", node.pods, "via", node.address)
    run(*switch, "route", "replace", node.pods6, "via", node.address6)
    _forward(node.namespace)
    # Pods of one node reach each other through services only with this.
    _set(node.namespace, "net/bridge/bridge-nf-call-iptables", "1", optional=True)


def cut(node: Node) -> None:
    """Pull the cable of a node: all its programs run on, and nobody hears of them."""
    run("ip", "-n", places.NAMESPACE, "link", "set", node.cable, "down")


def silence(node: Node) -> None:
    """Pull the cable of a node, if it has one."""
    does("ip", "-n", places.NAMESPACE, "link", "set", node.cable, "down")


def heal(node: Node) -> None:
    """Put the cable in again."""
    run("ip", "-n", places.NAMESPACE, "link", "set", node.cable, "up")


def unplug(node: Node) -> None:
    """Take a node's network away."""
    does("ip", "-n", places.NAMESPACE, "link", "del", node.cable)
    does("ip", "netns", "del", node.namespace)


def leave() -> None:
    """Take the network of the control plane away, with all links, routes and tables in it."""
    does("ip", "netns", "del", places.NAMESPACE)
    with suppress(OSError):  # others have networks there, or nobody ever had
        if not any(_NAMESPACES.iterdir()) and does("umount", _NAMESPACES):
            _NAMESPACES.rmdir()


def namespaces() -> list[str]:
    """Return which of our network namespaces there are."""
    try:
        names = [it.name for it in _NAMESPACES.iterdir()]
    except OSError:
        return []
    ours = (places.NAMESPACE, f"{places.NAMESPACE}-")
    return sorted(it for it in names if it == ours[0] or it.startswith(ours[1]))


def _forward(namespace: str) -> None:
    for name in ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"):
        _set(namespace, name, "1")


def _set(namespace: str, name: str, value: str, *, optional: bool = False) -> None:
    words = inside(namespace, "sh", "-c", f"echo {value} > /proc/sys/{name}")
    if not does(*words) and not optional:
        run(*words)
