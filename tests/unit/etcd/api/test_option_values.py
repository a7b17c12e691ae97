"""Values of etcd's flags, and what every etcd of this machine says to them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from stateward.core.version import Version
from stateward.etcd.api import option_values as values
from stateward.etcd.api.options import known_flags
from unit.etcd.build.examples import MINIMAL, cluster
from unit.etcd.build.test_real_etcd import ETCDS, PATIENCE, every_etcd, own_address, started

NEW = Version(3, 6, 16)

#: By what a flag takes: values that etcd reads, and values that it does not.
READ = {
    "switch": "true false 1 0 t F TRUE False",
    "count": "1 7 0x10 0b11 0o17 017 1_000 2000000000",
    "number": "0 -1 +5 0x10 1_000 9223372036854775807",
    "time": "0 5s 1h30m .5s 1.s -3ms 10us",
}
UNREAD = {
    "switch": "yes on 2 tRUE abc",
    "count": "abc -1 +1 1.5 8Gi 1s 1__0 08 0x 99999999999999999999",
    "number": "abc 1.5 8Gi 1s true 9223372036854775808",
    "time": "abc 5 1d 5sec 1h30 true",
}
FLAGS = {
    "switch": values.SWITCHES,
    "count": values.COUNTS,
    "number": values.NUMBERS,
    "time": values.TIMES,
}

#: What is read, and refused when etcd looks closer; a later release of 3.5 knows more flags.
REFUSED = [
    "log-level=loud", "log-level=warning", "logger=capnslog", "log-format=xml",
    "auto-compaction-mode=hourly", "auto-compaction-mode=Periodic",
    "auto-compaction-retention=abc", "auto-compaction-retention=-1",
    "auto-compaction-retention=1.5", "auto-compaction-retention=1d",
    "auto-compaction-retention=0x10", "auto-compaction-retention=99999999999999999999",
    "tls-min-version=1.2", "tls-max-version=TLS1.1", "v2-deprecation=never",
    "heartbeat-interval=0", "election-timeout=0", "election-timeout=50001",
    "heartbeat-interval=201", "election-timeout=499",
    "heartbeat-interval=500 election-timeout=2499",
    "experimental-compact-hash-check-time=0s", "experimental-compact-hash-check-time=-1s",
    "auto-compaction-retention=-1ns",
]  # fmt: skip
#: ... by 3.6; with the latter two 3.5 starts.
REFUSED_LATER = [
    "max-learners=-1", "compact-hash-check-time=0s", "compact-hash-check-time=0.5ns",
    "corrupt-check-time=-1s", "experimental-corrupt-check-time=-1s", "v2-deprecation=not-yet",
]  # fmt: skip
#: Odd, and served.
SERVED = {
    "log-level": "WARN", "logger": "zap", "auto-compaction-mode": "revision",
    "auto-compaction-retention": "+5", "heartbeat-interval": "200", "election-timeout": "0x3e8",
    "quota-backend-bytes": "-1", "max-txn-ops": "1_000", "pre-vote": "", "snapshot-count": "010",
    "grpc-keepalive-interval": "1.s", "v2-deprecation": "write-only",
}  # fmt: skip


def said(text: str, version: Version | None = NEW) -> list[str]:
    """What we say to options that are written as flags are."""
    options = dict(word.partition("=")[::2] for word in text.split())
    pace = values.pace_problem(options, version)
    return [*map(str, values.value_problems(options, version)), *([str(pace)] if pace else [])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quota-backend-bytes=abc", "spec.options.quota-backend-bytes: must be a whole number, got 'abc'"),
        ("quota-backend-bytes=8Gi", "spec.options.quota-backend-bytes: must be a whole number, got '8Gi' (write 8589934592)"),
        ("snapshot-count=-1", "spec.options.snapshot-count: must be a whole number, 0 or more, got '-1'"),
        ("heartbeat-interval=1s", "spec.options.heartbeat-interval: must be a whole number of milliseconds, 1 or more, got '1s'"),
        ("election-timeout=60000", "spec.options.election-timeout: must be a whole number of milliseconds, 1 or more and 50000 at most, got '60000'"),
        ("election-timeout=400", "spec.options.election-timeout: election-timeout must be at least 5 times heartbeat-interval, got 400 and 100 milliseconds"),
        ("heartbeat-interval=300", "spec.options.heartbeat-interval: election-timeout must be at least 5 times heartbeat-interval, got 1000 and 300 milliseconds"),
        ("pre-vote=yes", "spec.options.pre-vote: must be true or false, got 'yes'"),
        ("grpc-keepalive-interval=30", "spec.options.grpc-keepalive-interval: must be a time with its unit, as in 90s or 1h30m, got '30'"),
        ("log-level=loud", "spec.options.log-level: must be one of debug, info, warn, error, dpanic, panic, fatal, got 'loud'"),
        ("logger=capnslog", "spec.options.logger: must be zap, got 'capnslog'"),
        ("auto-compaction-retention=1d", "spec.options.auto-compaction-retention: must be a time, as in 5m, or a whole number, got '1d'"),
        ("max-learners=-1", "spec.options.max-learners: must be a whole number, 1 or more, got '-1'"),
        ("max-learners=0", "spec.options.max-learners: must be a whole number, 1 or more, got '0'"),
        ("compact-hash-check-time=0", "spec.options.compact-hash-check-time: must be a time that is more than 0, as in 1m, got '0'"),
        ("corrupt-check-time=-1s", "spec.options.corrupt-check-time: must be a time that is not less than 0, got '-1s'"),
        ("auto-compaction-retention=-5m", "spec.options.auto-compaction-retention: must be a time that is not less than 0, got '-5m'"),
        ("v2-deprecation=not-yet", "spec.options.v2-deprecation: must be one of write-only, write-only-drop-data, gone, got 'not-yet'"),
        ("snapshot-count=", "spec.options.snapshot-count: must have a value: only a flag that is on or off goes without"),
        ("cors=", "spec.options.cors: must have a value: only a flag that is on or off goes without"),
    ],
)  # fmt: skip
def test_what_is_said(text: str, expected: str) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize("text", ["v2-deprecation=not-yet", "experimental-corrupt-check-time=-1s"])
def test_what_only_a_later_release_refuses_is_let_pass_before(text: str) -> None:
    assert said(text, Version(3, 5, 35)) == []
    assert said(text)


@pytest.mark.parametrize("version", [None, Version(3, 9, 0)], ids=str)
def test_of_a_release_that_we_do_not_know_nothing_is_said(version: Version | None) -> None:
    assert said("quota-backend-bytes=abc heartbeat-interval=300", version) == []


def test_every_flag_of_the_table_is_known() -> None:
    every = (known_flags(Version(3, 5, 0)) or set()) | (known_flags(NEW) or set())
    named = [*values.CHOICES, *(name for names in FLAGS.values() for name in names)]

    assert sorted(named) == sorted(set(named))
    assert set(named) <= every


async def etcd(version: str, *words: str) -> tuple[int, str]:
    """How an etcd ends that is given some flags: 0 after its version, if it can read them."""
    process = await asyncio.create_subprocess_exec(
        ETCDS[version], *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode()


async def flags_of(version: str, kind: str) -> list[str]:
    """Flags of a kind that this very release has: a first one of 3.5 lacks some of the last."""
    known = sorted(FLAGS[kind] & (known_flags(Version.parse(version)) or set()))
    good = READ[kind].split()[0]
    while True:
        code, out = await etcd(version, *(f"--{name}={good}" for name in known), "--version")
        missing = re.search(r"not defined: -+([a-z0-9-]+)", out)
        if missing is None:
            assert code == 0, out
            return known
        known.remove(missing[1])


@every_etcd
@pytest.mark.parametrize("kind", FLAGS)
async def test_etcd_reads_what_we_let_pass_and_nothing_else(kind: str, version: str) -> None:
    names, release = await flags_of(version, kind), Version.parse(version)
    assert names
    for value in READ[kind].split():
        passed = [it for it in names if not values.value_problems({it: value}, release)]
        code, out = await etcd(version, *(f"--{name}={value}" for name in passed), "--version")
        assert (code, len(passed) >= len(names) - 4) == (0, True), (value, out)
    unread = UNREAD[kind].split()
    for number, name in enumerate(names):
        value = unread[number % len(unread)]
        code, _ = await etcd(version, f"--{name}={value}", "--version")
        assert code != 0, (name, value)
    one = names[0]
    for value in unread:
        assert values.value_problems({one: value}, release), (one, value)
        assert (await etcd(version, f"--{one}={value}", "--version"))[0] != 0, (one, value)


@every_etcd
async def test_a_bare_flag_that_is_no_switch_takes_the_next_one_for_its_value(version: str) -> None:
    assert (await etcd(version, "--snapshot-count", "--version"))[0] != 0
    assert (await etcd(version, "--cors"))[0] != 0
    assert (await etcd(version, "--pre-vote", "--version"))[0] == 0


@every_etcd
@pytest.mark.parametrize("text", [*REFUSED, *REFUSED_LATER])
async def test_etcd_does_not_start_with_what_we_refuse(
    text: str, version: str, tmp_path: Path
) -> None:
    if text in REFUSED_LATER and Version.parse(version) < Version(3, 6, 0):
        return
    words = [f"--{it}" for it in text.split()]
    if (known := known_flags(Version.parse(version))) and text.partition("=")[0] in known:
        assert said(text, Version.parse(version))
    host = own_address()
    places = {"peer": 2380, "client": 2379}
    listens = [f"--listen-{it}-urls=http://{host}:{port}" for it, port in places.items()]
    tells = [f"--advertise-client-urls=http://{host}:2379"]
    code, _ = await etcd(version, f"--data-dir={tmp_path}/data", *listens, *tells, *words)

    assert code != 0


@every_etcd
async def test_etcd_serves_with_odd_values_that_we_let_pass(version: str, tmp_path: Path) -> None:
    of, address = cluster(MINIMAL, version=version, options=SERVED), own_address()
    assert said(" ".join(f"{it}={value}" for it, value in SERVED.items())) == []
    alone = ((f"{of.metadata.name}-0", f"https://{address}:2380"),)
    async with started(of, alone, ETCDS[version], tmp_path, address) as member:
        await member.until("readinessProbe")
