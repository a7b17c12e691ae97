"""The demonstration on a terminal: the pods, the team, who leads, and how far the story is."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from stateward.app.demo.stage import Picture
from stateward.kube.objects.pods import Pod


def screen(picture: Picture, done: list[str], now: str) -> RenderableType:
    """Return the whole picture at one moment."""
    told = Text()
    for title in done:
        told.append(f"✔ {title}\n", style="green")
    if now:
        told.append(f"… {now}\n", style="yellow")
    return Group(_pods(picture), _team(picture), Panel(told, title="story", title_align="left"))


def summary(picture: Picture) -> str:
    """Return one line about what there is."""
    pods = ", ".join(f"{pod.metadata.name} {_state(pod)}" for pod in picture.pods)
    members = ", ".join(f"{it.metadata.name}={it.data['motto']!r}" for it in picture.members)
    parts = [pods, members and f"{members}; leader {picture.leader}"]
    return "; ".join(filter(None, parts)) or "nothing is left"


def _pods(picture: Picture) -> Table:
    table = Table(title="pods", min_width=64)
    for name in ("pod", "node", "address", "restarts", "state"):
        table.add_column(name)
    for pod in picture.pods:
        restarts = sum(it.restart_count for it in pod.status.container_statuses)
        table.add_row(
            pod.metadata.name, pod.spec.node_name, pod.status.pod_ip, str(restarts), _state(pod)
        )
    return table


def _state(pod: Pod) -> str:
    if pod.metadata.deleting:
        return "leaving"
    return "ready" if pod.ready else (pod.status.phase or "new").lower()


def _team(picture: Picture) -> Table:
    table = Table(title=f"team demo/crew    leader: {picture.leader or 'nobody yet'}", min_width=64)
    for name in ("member", "says", "state"):
        table.add_column(name)
    for member in picture.members:
        leaving = "leaving" if member.metadata.deleting else "there"
        table.add_row(member.metadata.name, member.data.get("motto", ""), leaving)
    if picture.team is None:
        table.add_row("[dim]no team[/dim]", "", "")
    else:
        table.caption = f"{picture.team.spec.size} asked for; {picture.team.status.doing or 'new'}"
    return table
