"""The end of a run with ``--real``: what each column answered, side by side.

One line for each story of the embedded Kubernetes and the real ones; one for each file of truths of
the client; then the sums, and in which stories the embedded one knowingly differs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import pytest

from stateward.local.real import programs

#: Whom stories are told to and truths are asked of, in the order of the columns.
COLUMNS: Final = (
    "embedded", "memory", "http", programs.KUBERNETES.release, programs.OLDEST_KUBERNETES.release, "given",
)  # fmt: skip
STORIES: Final = ("kubernetes", "controllers", "scheduling", "cluster")

OK, DIFFERS, FAILED, UNASKED = "ok", "differs", "FAILED", "-"
#: How pytest calls what happened; of several the last one here counts.
_OUTCOMES: Final = {"skipped": UNASKED, "passed": OK, "xfailed": DIFFERS, "failed": FAILED, "error": FAILED}  # fmt: skip
_DIFFERS: Final = "differs: "
#: Letters of a case's name that are shown.
_CASE: Final = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """One test of one column."""

    path: PurePosixPath
    story: str
    case: str
    column: str

    @property
    def is_story(self) -> bool:
        return self.path.parent.name in STORIES

    @property
    def is_truth(self) -> bool:
        return self.path.name.startswith("test_client_")


Answers = dict[Asked, str]
Row = Mapping[str, str]


def lines_of(stats: Mapping[str, Sequence[object]]) -> list[str]:
    """Return the report of a run, of what its terminal reporter knows."""
    answers: Answers = {}
    sentences: dict[str, list[str]] = {}
    for category, answer in _OUTCOMES.items():
        for report in stats.get(category, ()):
            asked = asked_of(report.nodeid) if isinstance(report, pytest.TestReport) else None
            if asked is None:
                continue
            answers[asked] = answer
            if answer is DIFFERS:
                said = report.wasxfail.removeprefix(_DIFFERS)
                sentences.setdefault(said, []).append(_named(asked.story))
    stories = {it: answer for it, answer in answers.items() if it.is_story}
    truths = {it: answer for it, answer in answers.items() if it.is_truth}
    return [*_stories(stories), *_truths(truths), *_differences(sentences)]


def parts_text(environment: Mapping[str, str] = os.environ) -> str:
    """Return which real parts this machine has, for a run that asks none of them."""
    found = {
        part: [programs.find(part, it, environment) for it in part.programs]
        for part in programs.PARTS
    }
    there = [f"{part.name} {part.release}" for part, it in found.items() if all(it)]
    missing = [f"{part.name} {part.release}" for part, it in found.items() if not all(it)]
    if not missing:
        return f"{', '.join(there)} are on this machine; `make test-real` asks them"
    return (
        f"no {', '.join(missing)} on this machine, and this run does without;"
        " `make test-real` obtains them with Go and asks them"
    )


def servers(*, alone: bool = False) -> list[str]:
    """Say which programs stand behind the columns: the environment may name others than we build."""
    found = {
        part.release: programs.find(part, "kube-apiserver")
        for part in (programs.KUBERNETES, programs.OLDEST_KUBERNETES)
    }
    ours = "embedded: not asked, as --real-alone says; `make test` asks it the same"
    return [ours] * alone + [
        f"{release}: kube-apiserver {it.version} ({it.origin})"
        for release, it in found.items()
        if it is not None
    ]


def asked_of(nodeid: str) -> Asked | None:
    """Read a test's name; None when it is not asked of a column of the contract.

    >>> asked_of("tests/contract/kubernetes/test_names.py::test_odd[embedded--dash]@group").case
    '-dash'
    """
    path, _, test = nodeid.partition("::")
    story, _, given = test.partition("[")
    given = given.rpartition("]")[0]
    for column, case in (_halves(given.partition("-")), _halves(given.rpartition("-")[::-1])):
        if column in COLUMNS and "/contract/" in path:
            return Asked(PurePosixPath(path), story, case, column)
    return None


def _halves(parted: Sequence[str]) -> tuple[str, str]:
    return parted[0], parted[2]


# ------------------------------------------------------------------ stories
def _stories(answers: Answers) -> list[str]:
    columns = _columns(answers)
    told: dict[PurePosixPath, dict[str, dict[str, dict[str, str]]]] = {}
    for asked, answer in answers.items():
        of_story = told.setdefault(asked.path, {}).setdefault(asked.story, {})
        of_story.setdefault(asked.case, {})[asked.column] = answer
    tables = {
        f"{path.parent.name}/{path.name}": [
            line for story in stories for line in _rows(_named(story), stories[story])
        ]
        for path, stories in sorted(told.items())
    }
    labels = [*tables, *(f"  {label}" for rows in tables.values() for label, _ in rows)]
    width = max(map(len, labels), default=0) + 2
    lines = []
    for name, rows in tables.items():
        lines += ["", f"{name:{width}}" + "".join(f"{it:9}" for it in columns).rstrip()]
        lines += [_line(label, row, width, columns) for label, row in rows]
    cases = {(it.path, it.story, it.case) for it in answers}
    return lines + _sums(f"{len(cases)} stories", answers)


def _rows(story: str, cases: Mapping[str, Row]) -> list[tuple[str, Row]]:
    """Return one row for the cases of a story that went alike, and one for each other case."""
    ways = [tuple(sorted(row.items())) for row in cases.values()]
    usual, count = Counter(ways).most_common(1)[0]
    if len(cases) == 1:
        return [(story, dict(usual))]
    if count == 1:
        return [(_case(story, case), row) for case, row in cases.items()]
    others = [(case, row) for case, row in cases.items() if tuple(sorted(row.items())) != usual]
    named = [(_case(story, case), row) for case, row in others]
    return [(f"{story} ({count} cases)", dict(usual)), *named]


def _case(story: str, case: str) -> str:
    return f"{story}: {case if len(case) <= _CASE else case[:_CASE] + '...'}"


def _line(label: str, row: Row, width: int, columns: Iterable[str]) -> str:
    cells = "".join(f"{row.get(it, UNASKED):9}" for it in columns)
    return f"  {label:{width - 2}}{cells}".rstrip()


# ------------------------------------------------------------------ truths
def _truths(answers: Answers) -> list[str]:
    columns = _columns(answers)
    files: dict[str, dict[str, Counter[str]]] = {}
    for asked, answer in answers.items():
        counts = files.setdefault(asked.path.name, {}).setdefault(asked.column, Counter())
        counts[answer] += 1
    if not files:
        return []
    width = max(map(len, files)) + 2
    cells = {
        name: [_counted(counts.get(it, Counter())) for it in columns]
        for name, counts in sorted(files.items())
    }
    widths = [max(len(it[i]) for it in [columns, *cells.values()]) + 2 for i in range(len(columns))]
    lines = ["", _padded("truths of the client", columns, width, widths)]
    lines += [_padded(f"  {name}", row, width, widths) for name, row in cells.items()]
    cases = {(it.path, it.story, it.case) for it in answers}
    return lines + _sums(f"{len(cases)} truths", answers)


def _padded(label: str, row: Iterable[str], width: int, widths: Iterable[int]) -> str:
    cells = "".join(f"{it:{size}}" for it, size in zip(row, widths, strict=True))
    return f"{label:{width + 2}}{cells}".rstrip()


# ------------------------------------------------------------------ both
def _sums(what: str, answers: Answers) -> list[str]:
    if not answers:
        return []
    said = (
        f"{column}: {_counted(Counter(it for asked, it in answers.items() if asked.column == column))}"
        for column in _columns(answers)
    )
    return ["", f"{what}; {'; '.join(said)}"]


def _counted(counts: Counter[str]) -> str:
    words = {OK: OK, DIFFERS: DIFFERS, FAILED: FAILED, UNASKED: "not asked"}
    return ", ".join(f"{counts[it]} {word}" for it, word in words.items() if counts[it]) or UNASKED


def _differences(sentences: Mapping[str, Iterable[str]]) -> list[str]:
    if not sentences:
        return []
    lines = ["", "The embedded Kubernetes knowingly differs:"]
    for sentence, stories in sorted(sentences.items()):
        lines += [f"  {sentence}", *(f"    {it}" for it in dict.fromkeys(stories))]
    return lines


def _columns(answers: Answers) -> list[str]:
    seen = {it.column for it in answers}
    return [it for it in COLUMNS if it in seen]


def _named(story: str) -> str:
    return story.removeprefix("test_").replace("_", " ")
