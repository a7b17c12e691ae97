"""The demonstration on a terminal: the team, its members, who leads, and how far the story is."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from stateward.app.demo import Picture


def screen(picture: Picture, done: list[str], now: str) -> RenderableType:
    """Return the whole picture at one moment."""
    story = Text()
    for title in done:
        story.append(f"✔ {title}\n", style="green")
    if now:
        story.append(f"… {now}\n", style="yellow")
    return Group(_team(picture), Panel(story, title="story", title_align="left"))


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
