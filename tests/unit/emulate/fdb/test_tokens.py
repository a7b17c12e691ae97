"""The words of ``configure`` mean what they meant to the real fdbcli, by every recording of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.configuration.tokens import Asked, Misunderstood

FOLDER = Path(__file__).parents[3] / "recordings" / "fdb" / "transcripts"


def recorded() -> Iterator[tuple[str, list[str]]]:
    """Yield every recorded configure: its words, and what was said on standard output."""
    for file in sorted(FOLDER.glob("*.json")):
        for step in json.loads(file.read_text()):
            words = step["cmd"]
            if isinstance(words, list) and "--exec" in words:
                command = words[words.index("--exec") + 1]
                if command.startswith("configure"):
                    yield command, (step["stdout"] or "").splitlines()


RECORDED = sorted(dict(recorded()).items())


def test_there_are_recordings() -> None:
    assert len(RECORDED) > 30


@pytest.mark.parametrize(("command", "lines"), RECORDED, ids=[it[0] for it in RECORDED])
def test_what_was_understood_then_is_understood_now(command: str, lines: list[str]) -> None:
    is_usage = any(line.startswith("Usage: ") for line in lines)
    words = [it.replace('"', "") for it in command.split()[1:]]
    try:
        notes = list(tokens.read(words).notes)
        understood = True
    except Misunderstood as error:
        notes, understood = list(error.notes), False
    assert understood == (not is_usage)
    assert notes == [
        it for it in lines if it.startswith(("Error: ", "Warning: ")) or "are aut" in it
    ]


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (
            "double ssd",
            {"redundancy_mode": "double", "storage_engine": "ssd-2", "log_engine": "ssd-2"},
        ),
        ("storage_engine=memory", {"storage_engine": "memory-2"}),
        ("proxies=16", {"grv_proxies": 4, "commit_proxies": 12}),
        ("log_version:=3", {"log_version": "3"}),
        ('regions=[{"datacenters":[]}]', {"regions": [{"datacenters": []}]}),
        ("regions=[{datacenters:[]}]", {"regions": [{}]}),
        ("exclude=127.0.0.1:1,127.0.0.2:1", {"exclude": ["127.0.0.1:1", "127.0.0.2:1"]}),
    ],
)
def test_what_words_mean(words: str, values: dict[str, object]) -> None:
    assert tokens.read(words.split()) == Asked(
        values=values, notes=tokens.read(words.split()).notes
    )


def test_the_first_word_may_force() -> None:
    assert tokens.read(["FORCE", "single"]).force
    assert tokens.read(["new", "single", "memory"]).new
    with pytest.raises(Misunderstood):
        tokens.read(["single", "FORCE"])
