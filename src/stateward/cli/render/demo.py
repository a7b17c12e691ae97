"""The demonstration for people: a live screen, lines, and what to type into another terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from stateward.app.demo.performance import Performance, Step
from stateward.app.demo.picture import Picture
from stateward.app.etcd.available import Found
from stateward.etcd.api.status import MemberReport
from stateward.kube.meta import ObjectKey

_SPACE: Final = " "
#: How wide the names of facts are.
_LABEL: Final = 10
#: How many lines there are for members at least: the screen is not to jump.
_FEWEST: Final = 3
#: The columns of the table of members, each with the narrowest screen that has it.
_COLUMNS: Final = (
    ("member", 0), ("id", 80), ("role", 0), ("healthy", 0), ("version", 60), ("db size", 0),
    ("lag", 100),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Screen:
    """All there is to see at one moment, as wide and as high as the terminal is."""

    etcd: Found
    picture: Picture
    told: Performance
    #: Seconds that the present chapter has taken.
    under_way: float = 0.0
    #: Which FoundationDB runs beside it.
    fdb: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines; where they are too many, what is past is left out first."""
        high = options.height or console.size.height
        head, facts = headline(self.etcd), self._facts(options.max_width)
        fixed = len(head) + len(facts) + _around_members(self.picture) + 2
        chapters = self._chapters(max(3, high - fixed - 2))
        events = _events(self.picture, max(1, high - fixed - len(chapters)))
        title = Text(_title(self.picture), style="bold")
        above, below = (*head, *chapters, Text(_SPACE), title), (*facts, *events)
        for line in (*above, *below):
            line.truncate(options.max_width, overflow="ellipsis")
        yield Group(*above, _members(self.picture, options.max_width), *below)

    def _chapters(self, room: int) -> list[Text]:
        told = [_told(it) for it in self.told.steps]
        now = self.told.now
        if now is not None:
            told.append(_line("…", now.title, f"{self.under_way:.1f} s", "yellow"))
        ahead = [_line("·", it.title, "", "dim") for it in self.told.chapters[len(told) :]]
        if not ahead and now is None:
            return [_verdict(self.told)]
        window = [*told, *ahead]
        first = min(max(0, len(told) - room + 1), max(0, len(window) - room))
        return window[first : first + room]

    def _facts(self, wide: int) -> list[Text]:
        doing = self.picture.doing or "nothing yet"
        operator = self.picture.operator or "nobody yet"
        room = max(_LABEL, wide - _LABEL)
        lines = textwrap.wrap(doing, room, max_lines=2, placeholder=" …")
        return [
            *(_fact("" if number else "doing", it) for number, it in enumerate(lines)),
            _fact("writer", writes(self.told)),
            _fact("operator", f"{operator} leads"),
            *(_fact("beside", f"{self.fdb}: {it}") for it in beside(self.picture)),
        ]


def headline(etcd: Found) -> list[Text]:
    """Return which etcd runs, and what is known to be wrong with it."""
    lines = [Text(f"{etcd}, on an embedded Kubernetes", style="bold")]
    if etcd.caveat:
        lines.append(Text(f"note: {etcd.caveat}", style="yellow"))
    return lines


def writes(told: Performance) -> str:
    """Return what the writer has come to, in a few words; the gap is the longest one."""
    writer = told.actors.writer
    lost = told.missing if told.lost is None else told.lost
    return (
        f"{writer.acknowledged} acknowledged, {writer.failed} failed, {lost} lost,"
        f" gap {told.longest_gap:.1f} s"
    )


def step_lines(step: Step, picture: Picture) -> Iterator[str]:
    """Yield a chapter that was told, for where nothing can be drawn over."""
    mark = "✔" if step.ok else "✖"
    yield f"{mark} {step.chapter.title} ({step.seconds:.1f} s){_killed(step)}"
    if step.ok:
        yield f"    {summary(picture)}"
        runs = picture.fdb.status.runs if picture.fdb is not None else ""
        who = f"FoundationDB {runs}".rstrip()
        yield from (f"    {who}: {it}" for it in beside(picture))
        return
    yield f"    {step.complaint}"
    yield from (f"    {it}" for it in step.stood)


def summary(picture: Picture) -> str:
    """Return one line about what there is."""
    if picture.etcd is None:
        return "no cluster"
    members = ", ".join(f"{it.name} {_role(it)}" for it in picture.etcd.status.members)
    return members or "no members"


def beside(picture: Picture) -> Iterator[str]:
    """Yield one line about the FoundationDB beside it, once there is one."""
    if picture.fdb is None:
        return
    ready = sum(it.ready for it in picture.fdb_pods)
    zones = picture.fdb_zones()
    mode = picture.fdb.spec.database_configuration.redundancy_mode
    doing = picture.fdb.status.doing or "nothing yet"
    yield f"{mode}, {ready}/{len(picture.fdb_pods)} pods ready on {zones} zones, {doing}"


def result(told: Performance, seconds: float) -> str:
    """Return the last line of a story that came true."""
    return f"demo: all {len(told.chapters)} chapters came true ({seconds:.0f} s); {writes(told)}"


def invitation(kubeconfig: str, key: ObjectKey, ledger: ObjectKey) -> str:
    """Return what to type into another terminal."""
    namespace = f"-n {key.namespace}"
    return "\n".join(
        (
            "",
            "It is yours now. In another terminal:",
            "",
            f"    export KUBECONFIG={kubeconfig}",
            f"    kubectl {namespace} get etcd -w",
            f"    kubectl {namespace} scale etcd/{key.name} --replicas 5",
            f"    kubectl {namespace} delete pod {key.name}-0",
            f"    kubectl {namespace} describe etcd/{key.name}",
            f"    kubectl {namespace} get fdb,fdbpg",
            f"    kubectl {namespace} describe fdb/{ledger.name}",
            f"    kubectl {namespace} get events -w",
            "",
            "Ctrl-C ends it, and nothing is kept.",
            "",
        )
    )


def _told(step: Step) -> Text:
    mark, style = ("✔", "green") if step.ok else ("✖", "red")
    return _line(mark, step.chapter.title, f"{step.seconds:.1f} s{_killed(step)}", style)


def _killed(step: Step) -> str:
    names = ", ".join(it.pod for it in step.kills if it.pod)
    return f", killed {names}" if names else ""


def _verdict(told: Performance) -> Text:
    count, seconds = len(told.steps), sum(it.seconds for it in told.steps)
    if all(it.ok for it in told.steps):
        return _line("✔", f"all {count} chapters came true", f"{seconds:.0f} s", "green")
    return _line("✖", f"chapter {count} did not come true", f"{seconds:.0f} s", "red")


def _line(mark: str, title: str, took: str, style: str) -> Text:
    return Text.assemble((f"{mark} {title}", style), (f"  {took}" if took else "", "dim"))


def _fact(name: str, words: str) -> Text:
    return Text.assemble((f"{name:<{_LABEL}}", "bold"), words)


def _events(picture: Picture, room: int) -> list[Text]:
    return [
        _fact("" if number else "events", f"{it.reason}: {it.message}")
        for number, it in enumerate(picture.events[-room:])
    ]


def _around_members(picture: Picture) -> int:
    """Return how many lines the table of members takes."""
    members = picture.etcd.status.members if picture.etcd else ()
    return 2 + max(_FEWEST, len(members))


def _members(picture: Picture, wide: int) -> Table:
    shown = [name for name, least in _COLUMNS if wide >= least]
    table = Table(box=None)
    for name in shown:
        table.add_column(name, no_wrap=True, overflow="ellipsis", header_style="dim")
    rows: Sequence[MemberReport] = picture.etcd.status.members if picture.etcd else ()
    for member in rows:
        cells = _cells(member)
        table.add_row(*(cells[name] for name in shown), style="" if member.healthy else "yellow")
    for _ in range(_FEWEST - len(rows)):
        table.add_row(_SPACE)
    return table


def _title(picture: Picture) -> str:
    if picture.etcd is None:
        return "no EtcdCluster yet"
    key, status = picture.etcd.metadata, picture.etcd.status
    ready = status.ready_members or f"0/{picture.etcd.spec.replicas}"
    leader = f", {status.leader} leads" if status.leader else ""
    return f"etcd {key.namespace}/{key.name}: {ready} members{leader}"


def _cells(member: MemberReport) -> dict[str, str]:
    return {
        "member": member.name,
        "id": member.id,
        "role": member.role,
        "healthy": "yes" if member.healthy else "no",
        "version": member.version,
        "db size": member.db_size,
        "lag": str(member.index_lag),
    }


def _role(member: MemberReport) -> str:
    return member.role if member.healthy else member.message or member.role
