"""Which kubectl the tests drive, where there are several."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import kubectl
from fakes.programs import write
from real import planes


def saying(path: Path, version: str) -> None:
    major, minor = version.split(".")
    answer = f'{{"clientVersion": {{"major": "{major}", "minor": "{minor}+"}}}}'
    write(path, f"case $* in *json) echo '{answer}';; *) echo v{version}.4;; esac")


@pytest.mark.parametrize(
    ("there", "real", "told"),
    [
        ({"bin": "1.32", "cache": "1.35", "debian": "1.28"}, False, "1.32 (bin)"),
        ({"bin": "1.32", "cache": "1.35"}, True, "1.35 (cache)"),
        ({"bin": "1.32", "debian": "1.28"}, True, "1.32 (bin)"),
        ({"bin": "1.20", "cache": "1.35"}, False, "1.35 (cache)"),
        ({"cache": "1.35", "debian": "1.28"}, False, "1.35 (cache)"),
        ({"debian": "1.28"}, False, "1.28 (debian)"),
        ({"bin": "1.20", "debian": "1.27"}, False, "1.20 is too old, 1.28 or newer is needed: its tests are skipped"),
        ({}, False, "none on PATH, and no Debian package kubernetes-client to be had: its tests are skipped"),
    ],
)  # fmt: skip
def test_the_first_that_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: dict[str, str], real: bool, told: str
) -> None:
    places = {
        "bin": tmp_path / "bin" / "kubectl",
        "cache": tmp_path / "stateward" / "real" / "kubernetes-1.35" / "1.35.4" / "kubectl",
        "debian": tmp_path / "stateward" / "debian-kubectl" / "usr" / "bin" / "kubectl",
    }
    for name, version in there.items():
        saying(places[name], version)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv(planes.SHARED, "1.35=somewhere" if real else "")

    said = kubectl.find.__wrapped__().told

    for name, path in places.items():
        said = said.replace(str(path), name)
    assert said == told
