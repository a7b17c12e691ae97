"""The report of `stateward demo --check`: the same fields in every release. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from stateward.app.demo.performance import Performance, Step
from stateward.app.etcd.available import Found
from stateward.app.fdb.available import Emulated
from stateward.app.fdb.available import Found as FdbFound
from stateward.kube.codec import Json


def report(
    etcd: Found,
    fdb: FdbFound | Emulated,
    told: Performance,
    *,
    seconds: float,
    ready_after: float | None,
) -> Json:
    """Return what one story came to."""
    return {
        "etcd": _etcd(etcd),
        "foundationdb": _fdb(fdb),
        **_story(told),
        "readyAfterSeconds": _rounded(ready_after),
        "seconds": _rounded(seconds),
        "ok": told.ok,
    }


def report_of_many(etcd: Found, told: Sequence[Performance], *, seconds: float) -> Json:
    """Return what the stories of many seeds came to, together and each."""
    losses = [it.lost for it in told]
    writers = [it.actors.writer for it in told]
    return {
        "etcd": _etcd(etcd),
        "seeds": [{**_story(it), "ok": it.ok} for it in told],
        "writes": {
            "acknowledged": sum(it.acknowledged for it in writers),
            "failed": sum(it.failed for it in writers),
            "lost": None if None in losses else sum(it or 0 for it in losses),
            "longestGapSeconds": _rounded(max((it.longest_gap for it in told), default=0.0)),
        },
        "seconds": _rounded(seconds),
        "ok": bool(told) and all(it.ok for it in told),
    }


def _etcd(found: Found) -> Json:
    return {"version": str(found.version), "source": found.source, "caveat": found.caveat}


def _fdb(found: FdbFound | Emulated) -> Json:
    real = None if isinstance(found, Emulated) or found.emulated else found
    return {
        "version": str(found.version),
        "source": real.source if real else "",
        "emulated": real is None,
    }


def _story(told: Performance) -> Json:
    writer = told.actors.writer
    return {
        "seed": told.seed,
        "steps": [_step(it) for it in told.steps],
        "untold": [it.name for it in told.chapters[len(told.steps) :]],
        "writes": {
            "acknowledged": writer.acknowledged,
            "failed": writer.failed,
            "lost": told.lost,
            "longestGapSeconds": _rounded(told.longest_gap),
        },
    }


def _step(step: Step) -> Json:
    found: Json = {
        "name": step.chapter.name,
        "seconds": _rounded(step.seconds),
        "ok": step.ok,
        "longestGapSeconds": _rounded(step.gap),
        "kills": [{"pod": it.pod, "afterSeconds": _rounded(it.after)} for it in step.kills],
    }
    if not step.ok:
        found |= {
            "waitedFor": step.chapter.wanted,
            "complaint": step.complaint,
            "doing": step.doing,
            "stood": list(step.stood),
        }
    return found


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 2)
