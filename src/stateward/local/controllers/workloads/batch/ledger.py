"""How many pods of a Job succeeded and failed, each counted once, even after it is gone.

A pod is held by a finalizer until its UID stands in the job's status; then it is let go; when it is
seen to be let go, its UID becomes part of a number. Whatever is interrupted, the next pass sees
where it was: a UID that is noted is never noted again, and one that is still held is never lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stateward.kube.codec import Json
from stateward.local.controllers.workloads.batch.job_pods import has_failed, index_of, is_tracked
from stateward.local.controllers.workloads.pods import Seen, number

_PENDING = "uncountedTerminatedPods"


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is counted, what is noted and not yet let go, and which indexes are done."""

    succeeded: int = 0
    failed: int = 0
    noted_succeeded: frozenset[str] = frozenset()
    noted_failed: frozenset[str] = frozenset()
    #: The indexes that are done; None when the job has none.
    indexes: frozenset[int] | None = None

    @classmethod
    def of(cls, status: Json, *, indexed: bool) -> Ledger:
        """Read the status of a job."""
        pending = status.get(_PENDING) or {}
        return cls(
            succeeded=number(status, "succeeded", 0),
            failed=number(status, "failed", 0),
            noted_succeeded=frozenset(pending.get("succeeded") or ()),
            noted_failed=frozenset(pending.get("failed") or ()),
            indexes=frozenset(read_indexes(status.get("completedIndexes"))) if indexed else None,
        )

    @property
    def noted(self) -> frozenset[str]:
        """The pods that may be let go."""
        return self.noted_succeeded | self.noted_failed

    @property
    def successes(self) -> int:
        """How many pods, or indexes, are done."""
        if self.indexes is not None:
            return len(self.indexes)
        return self.succeeded + len(self.noted_succeeded)

    @property
    def failures(self) -> int:
        """How many pods failed."""
        return self.failed + len(self.noted_failed)

    def after(self, pods: Iterable[Seen]) -> Ledger:
        """Return the ledger with what is seen now: ends are noted, those let go are counted."""
        held = [pod for pod in pods if is_tracked(pod.metadata)]
        uids = frozenset(pod.uid for pod in held)
        won = [pod for pod in held if pod.phase == "Succeeded"]
        lost = frozenset(pod.uid for pod in held if has_failed(pod)) - self.noted
        done = {index for pod in won if (index := index_of(pod)) is not None}
        indexes = None if self.indexes is None else self.indexes | done
        gone = len(self.noted_succeeded - uids)
        return Ledger(
            succeeded=self.succeeded + gone if indexes is None else len(indexes),
            failed=self.failed + len(self.noted_failed - uids),
            noted_succeeded=(self.noted_succeeded & uids)
            | (frozenset(pod.uid for pod in won) - self.noted),
            noted_failed=(self.noted_failed & uids) | lost,
            indexes=indexes,
        )

    def status(self) -> Json:
        """Return what the status says; a field that is None is left out."""
        parts = {"succeeded": self.noted_succeeded, "failed": self.noted_failed}
        pending = {name: sorted(uids) for name, uids in parts.items() if uids}
        return {
            "succeeded": self.succeeded or None,
            "failed": self.failed or None,
            _PENDING: pending,
            "completedIndexes": written_indexes(self.indexes) if self.indexes else None,
        }


def read_indexes(text: Any) -> set[int]:
    """Read indexes as Kubernetes writes them.

    >>> sorted(read_indexes("0,2-4"))
    [0, 2, 3, 4]
    """
    found: set[int] = set()
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found.update(range(int(first), int(last or first) + 1))
    return found


def written_indexes(indexes: Iterable[int]) -> str:
    """Write indexes as Kubernetes does: three or more in a row as a range.

    >>> written_indexes({0, 2, 3, 4, 6, 7})
    '0,2-4,6,7'
    """
    rows: list[list[int]] = []
    for index in sorted(indexes):
        if rows and rows[-1][-1] == index - 1:
            rows[-1].append(index)
        else:
            rows.append([index])
    parts = (
        [f"{row[0]}-{row[-1]}"] if len(row) > 2 else [str(index) for index in row] for row in rows
    )
    return ",".join(text for part in parts for text in part)
