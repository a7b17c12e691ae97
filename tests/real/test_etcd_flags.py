"""What we know of etcd's flags is what the programs say of themselves."""

from __future__ import annotations

import re
import subprocess

import pytest

from stateward.core.version import Version
from stateward.etcd.api import options
from stateward.local.real import programs

#: Flags that every Go program has, or that only those who build etcd use.
OTHERS = {"h"}
FLAG = re.compile(r"^ +--([a-z0-9-]+)", re.MULTILINE)


def etcd(part: programs.Part, *words: str) -> str:
    found = programs.find(part, "etcd")
    assert found is not None, "`make real` obtains etcd"
    ended = subprocess.run(
        [found.path, *words], capture_output=True, text=True, check=False, timeout=20
    )
    return ended.stdout + ended.stderr


def line_of(part: programs.Part) -> Version:
    major, minor = part.release.split(".")
    return Version(int(major), int(minor), 0)


@pytest.mark.parametrize("part", [programs.ETCD, programs.OLDER_ETCD], ids=lambda it: it.release)
def test_every_flag_that_we_know_is_one(real_programs: None, part: programs.Part) -> None:
    known = options.known_flags(line_of(part))
    assert known

    strange = [
        name for name in sorted(known) if "not defined" in etcd(part, f"--{name}=?", "--version")
    ]

    assert strange == []
    assert "not defined" in etcd(part, "--snapshot-cuont=1", "--version")


@pytest.mark.parametrize("part", [programs.ETCD, programs.OLDER_ETCD], ids=lambda it: it.release)
def test_every_flag_that_it_tells_of_is_known(real_programs: None, part: programs.Part) -> None:
    told = set(FLAG.findall(etcd(part, "--help"))) - OTHERS
    assert "snapshot-count" in told

    known = options.known_flags(line_of(part)) or frozenset()
    assert sorted(name for name in told - known if not options.owned(name)) == []
