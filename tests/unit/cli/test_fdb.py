"""`stateward fdb detect-missing`: what it says, where it says it, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateward.app.fdb import detecting
from stateward.app.settings import Settings
from stateward.cli.main import main
from stateward.core.errors import PeerUnreachable, UsageError
from stateward.fdb.api.group import GroupConditionType as Kind
from stateward.fdb.cluster.detecting import Detected, Missing
from stateward.kube.meta import ObjectKey

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me, namespace: shop}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
"""
LOST = Missing("storage-3", Kind.MISSING_PROCESSES, 41.4)
NOW = "2026-03-01T12:00:00Z"


class Looks:
    """What is asked for, and what is found."""

    def __init__(self) -> None:
        self.found: Detected | Exception = Detected(())
        self.asked: list[tuple[ObjectKey, Settings]] = []

    async def run(self, _access: Any, settings: Settings, key: ObjectKey, _ports: Any) -> Detected:
        self.asked.append((key, settings))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Looks:
    (tmp_path / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    found = Looks()
    monkeypatch.setattr(detecting, "run", found.run)
    return found


def test_the_namespace_is_that_of_the_context_unless_said(looks: Looks) -> None:
    assert main(["fdb", "detect-missing", "--cluster", "orders"]) == 0
    words = ["--cluster", "orders", "--namespace", "bank", "--fdb-binaries", "/opt/fdb"]
    assert main(["fdb", "detect-missing", *words]) == 0
    assert [key for key, _ in looks.asked] == [
        ObjectKey("shop", "orders"),
        ObjectKey("bank", "orders"),
    ]
    assert looks.asked[1][1].fdb_binaries == (Path("/opt/fdb"),)


@pytest.mark.parametrize(
    ("found", "code", "out", "err"),
    [
        (Detected(()), 0, "shop/orders: nobody is missing", ""),
        (Detected((LOST,), told=NOW), 0,
         f"{LOST}\nshop/orders: 1 missing, which its operator was told {NOW}", ""),
        (Detected((LOST,), "no answer", NOW), 0, f"operator was told {NOW}", "no answer"),
        (Detected((), "no answer"), 1, "", "shop/orders: the database must say who reports: no answer"),
        (UsageError("there must be a cluster"), 2, "", "stateward: there must be a cluster"),
        (PeerUnreachable("the API server does not answer"), 1, "", "does not answer"),
    ],
)  # fmt: skip
def test_how_it_ends(
    looks: Looks,
    capsys: pytest.CaptureFixture[str],
    found: Detected | Exception,
    code: int,
    out: str,
    err: str,
) -> None:
    looks.found = found
    assert main(["fdb", "detect-missing", "--cluster", "orders"]) == code
    said = capsys.readouterr()
    assert out in said.out
    assert err in said.err
    assert bool(said.err) is bool(err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--cluster"),
        (["--cluster", "Orders"], "--cluster must be of a-z"),
        (["--cluster", "a", "--namespace", "b/c"], "--namespace must be of a-z"),
        (["--cluster", "a", "--fdb-binaries", "here"], "--fdb-binaries must be folders"),
        (["--cluster", "a", "--addresses", "/nowhere"], "--addresses must be dns or the folder"),
        (["--cluster", "a", "--context", "there"], "there"),
    ],
)
def test_bad_words_are_one_sentence_and_exit_code_2(
    looks: Looks, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["fdb", "detect-missing", *words]) == 2
    sentence = capsys.readouterr().err
    assert said in sentence
    assert sentence.count("\n") == 1
    assert looks.asked == []
