"""Values of etcd's flags: what a release that we know would not even start with.

A member with such a value crashes again and again, and a cluster that is rolled stops at it. So it
is said before anything is done. Only what etcd refuses whatever else it is given is refused here;
a test asks the programs. Two values are refused with which etcd starts: without room for a learner
no cluster grows, and with a negative retention it never rests or never compacts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from stateward.core.duration import parse_seconds
from stateward.core.quantity import Quantity
from stateward.core.version import Version
from stateward.etcd.api.options import known_flags
from stateward.kube.crd.findings import Problem


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WHERE: Final = "spec.options"
HEARTBEAT, ELECTION = "heartbeat-interval", "election-timeout"
#: Milliseconds: what etcd itself takes for them, the longest it takes, and how far they are apart.
_OWN: Final = {HEARTBEAT: 100, ELECTION: 1000}
_LONGEST_ELECTION: Final = 50_000
_HEARTBEATS: Final = 5

#: On or off; the only flags that may be given without a value.
SWITCHES: Final = _names("""
    enable-distributed-tracing enable-log-rotation enable-pprof enable-v2
    experimental-compact-hash-check-enabled experimental-enable-distributed-tracing
    experimental-enable-lease-checkpoint experimental-enable-lease-checkpoint-persist
    experimental-initial-corrupt-check experimental-memory-mlock
    experimental-peer-skip-client-san-verification experimental-stop-grpc-service-on-defrag
    experimental-txn-mode-write-with-shared-buffer initial-election-tick-advance memory-mlock
    peer-skip-client-san-verification pre-vote socket-reuse-address socket-reuse-port
    unsafe-no-fsync
""")
#: Whole numbers that are not less than 0.
COUNTS: Final = _names("""
    auth-token-ttl bcrypt-cost bootstrap-defrag-threshold-megabytes election-timeout
    experimental-bootstrap-defrag-threshold-megabytes experimental-snapshot-catchup-entries
    heartbeat-interval max-concurrent-streams max-request-bytes max-snapshots max-txn-ops max-wals
    self-signed-cert-validity snapshot-catchup-entries snapshot-count
""")
#: Whole numbers.
NUMBERS: Final = _names("""
    backend-batch-limit compaction-batch-limit distributed-tracing-sampling-rate
    experimental-compaction-batch-limit experimental-distributed-tracing-sampling-rate max-learners
    quota-backend-bytes
""")
#: Times with their unit.
TIMES: Final = _names("""
    backend-batch-interval compact-hash-check-time compaction-sleep-interval corrupt-check-time
    downgrade-check-time experimental-compact-hash-check-time
    experimental-compaction-sleep-interval experimental-corrupt-check-time
    experimental-downgrade-check-time experimental-warning-apply-duration
    experimental-warning-unary-request-duration experimental-watch-progress-notify-interval
    grpc-keepalive-interval grpc-keepalive-min-time grpc-keepalive-timeout raft-read-timeout
    raft-write-timeout warning-apply-duration warning-unary-request-duration
    watch-progress-notify-interval
""")
#: Of those, what must be more than 0, and what must not be less where 3.6 or later is.
_ABOVE_ZERO: Final = _names("compact-hash-check-time experimental-compact-hash-check-time")
_FROM_ZERO: Final = _names("corrupt-check-time experimental-corrupt-check-time")
#: etcd counts in whole ones.
_NANOSECOND: Final = 1e-9
#: Words, of which one must be chosen. Of levels etcd does not mind capitals.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "auto-compaction-mode": ("periodic", "revision"),
    "log-format": ("json", "console"),
    "log-level": ("debug", "info", "warn", "error", "dpanic", "panic", "fatal"),
    "logger": ("zap",),
    "tls-max-version": ("TLS1.2", "TLS1.3"),
    "tls-min-version": ("TLS1.2", "TLS1.3"),
    "v2-deprecation": ("not-yet", "write-only", "write-only-drop-data", "gone"),
}
#: ... and of which one was given up.
_STRICTER: Final = Version(3, 6, 0)
_GIVEN_UP: Final = ("v2-deprecation", "not-yet")

#: As Go reads it: 8, 0x10, 0b1, 0o17, 017, 1_000.
_WHOLE: Final = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<x>(?:_?[0-9a-fA-F])+)|0[bB](?P<b>(?:_?[01])+)"
    r"|0[oO]?(?P<o>(?:_?[0-7])+)|(?P<d>0|[1-9](?:_?[0-9])*))"
)
_BASES: Final = {"x": 16, "b": 2, "o": 8, "d": 10}
_TRUTHS: Final = _names("1 t T TRUE true True 0 f F FALSE false False")
_BITS: Final = 64
#: Of characters; far more than any number that fits.
_LONGEST_NUMBER: Final = 200
_FEWER_BITS: Final = {"max-concurrent-streams": 32}
#: New members join as learners.
_LEAST: Final = {"max-learners": 1}


def value_problems(options: Mapping[str, str], version: Version | None) -> list[Problem]:
    """Return what is wrong with the values of flags that a known release has."""
    known = _known(version)
    if version is None or not known:
        return []
    judged = (_problem(name, value, version) for name, value in options.items() if name in known)
    return [it for it in judged if it is not None]


def pace_problem(options: Mapping[str, str], version: Version | None) -> Problem | None:
    """Say when members would call an election before they could have missed heartbeats."""
    beat, patience = (_milliseconds(options, name) for name in (HEARTBEAT, ELECTION))
    if beat is None or patience is None or not _known(version):
        return None
    if patience >= _HEARTBEATS * beat:
        return None
    given = ELECTION if ELECTION in options else HEARTBEAT
    return Problem(
        f"{_WHERE}.{given}",
        f"{ELECTION} must be at least {_HEARTBEATS} times {HEARTBEAT},"
        f" got {patience} and {beat} milliseconds",
    )


def _known(version: Version | None) -> frozenset[str]:
    return (known_flags(version) if version else None) or frozenset()


def _milliseconds(options: Mapping[str, str], name: str) -> int | None:
    return _whole(options[name]) if name in options else _OWN[name]


def _problem(name: str, value: str, version: Version) -> Problem | None:
    where = f"{_WHERE}.{name}"
    if not value:
        said = "must have a value: only a flag that is on or off goes without"
        return None if name in SWITCHES else Problem(where, said)
    for names, judge in _JUDGES:
        if name in names and (said := judge(name, value, version)):
            return Problem(where, f"{said}, got {value!r}", _hint(name, value))
    return None


def _switch_problem(_name: str, value: str, _version: Version) -> str:
    return "" if value in _TRUTHS else "must be true or false"


def _choice_problem(name: str, value: str, version: Version) -> str:
    chosen = value.lower() if name == "log-level" else value
    gone = _GIVEN_UP if version >= _STRICTER else ()
    choices = [it for it in CHOICES[name] if (name, it) != gone]
    if chosen in choices:
        return ""
    return f"must be {'one of ' if len(choices) > 1 else ''}{', '.join(choices)}"


def _number_problem(name: str, value: str, _version: Version) -> str:
    number, least = _whole(value), _LEAST.get(name, -(1 << _BITS - 1))
    if number is not None and least <= number < 1 << _BITS - 1:
        return ""
    return "must be a whole number" + (f", {least} or more" if name in _LEAST else "")


def _count_problem(name: str, value: str, _version: Version) -> str:
    number = _whole(value) if value[0] not in "+-" else None
    least = 1 if name in _OWN else 0
    most = _LONGEST_ELECTION if name == ELECTION else (1 << _FEWER_BITS.get(name, _BITS)) - 1
    if number is not None and least <= number <= most:
        return ""
    unit = " of milliseconds" if name in _OWN else ""
    top = f" and {most} at most" if name == ELECTION else ""
    return f"must be a whole number{unit}, {least} or more{top}"


def _time_problem(name: str, value: str, version: Version) -> str:
    seconds = _seconds(value)
    if seconds is None:
        return "must be a time with its unit, as in 90s or 1h30m"
    if name in _ABOVE_ZERO and seconds < _NANOSECOND:
        return "must be a time that is more than 0, as in 1m"
    if version >= _STRICTER and name in _FROM_ZERO and seconds < 0:
        return "must be a time that is not less than 0"
    return ""


def _retention_problem(_name: str, value: str, _version: Version) -> str:
    """Hours or revisions as a plain number, or a time."""
    if re.fullmatch(r"\+?[0-9]{1,18}|-0{1,18}", value):
        return ""
    seconds = _seconds(value)
    if seconds is None:
        return "must be a time, as in 5m, or a whole number"
    return "must be a time that is not less than 0" if seconds < 0 else ""


_JUDGES: Final[tuple[tuple[frozenset[str], Callable[[str, str, Version], str]], ...]] = (
    (SWITCHES, _switch_problem),
    (COUNTS, _count_problem),
    (NUMBERS, _number_problem),
    (TIMES, _time_problem),
    (frozenset(CHOICES), _choice_problem),
    (frozenset({"auto-compaction-retention"}), _retention_problem),
)


def _whole(value: str) -> int | None:
    found = _WHOLE.fullmatch(value)
    if found is None or len(value) > _LONGEST_NUMBER:
        return None
    digits, base = next((found[it], _BASES[it]) for it in _BASES if found[it] is not None)
    return int(digits.replace("_", ""), base) * (-1 if found["sign"] == "-" else 1)


def _seconds(value: str) -> float | None:
    try:
        return parse_seconds(value)
    except ValueError:
        return None


def _hint(name: str, value: str) -> str:
    """Return the number that was meant by a quantity, as in 8Gi: etcd counts in bytes."""
    if name not in COUNTS | NUMBERS or name in _OWN:
        return ""
    try:
        meant = Quantity.parse(value).whole()
    except ValueError:
        return ""
    return f"write {meant}" if meant > 0 else ""
