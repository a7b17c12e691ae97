"""Members find each other by loopback addresses: the agent's, from within and from outside."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.app.etcd.addresses import Loopback, LoopbackFile
from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.kube.meta import ObjectKey
from stateward.local.agent import addresses, orphans
from stateward.local.agent.addresses import Addresses

keys = st.builds(
    ObjectKey, st.sampled_from(["a", "b"]), st.from_regex(r"[a-z]{1,3}-[0-9]", fullmatch=True)
)


class Giver:
    """The part of an agent that gives out addresses, on a folder of its own."""

    def __init__(self, root: Path) -> None:
        name, _ = orphans.owned(root / "nodes", Chance(7))
        self.book = Addresses(name, root / "nodes" / "addresses.json")

    def address_of(self, pod: ObjectKey) -> str:
        return self.book.of(str(pod))


@settings(max_examples=50)
@given(st.lists(keys), st.lists(keys))
def test_inside_and_outside_agree_whoever_is_asked_first(
    known: list[ObjectKey], others: list[ObjectKey]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        inside, outside = Loopback(Giver(root)), LoopbackFile(root)
        for pod in known:
            inside.host(pod, "s")
        foretold = {pod: outside.host(pod, "s") for pod in (*known, *others)}

        assert foretold == {pod: inside.host(pod, "s") for pod in foretold}
        assert foretold == {pod: outside.host(pod, "s") for pod in foretold}
        assert len(set(foretold.values())) == len(foretold)


def test_two_that_want_the_same_are_told_apart_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        addresses, "candidate", lambda _salt, _name, attempt=0: f"127.1.1.{attempt + 1}"
    )
    inside, outside = Loopback(Giver(tmp_path)), LoopbackFile(tmp_path)
    first, second = ObjectKey("ns", "etcd-0"), ObjectKey("ns", "etcd-1")

    assert inside.host(first, "s") == outside.host(first, "s") == "127.1.1.1"
    assert outside.host(second, "s") == inside.host(second, "s") == "127.1.1.2"


def test_a_pod_writes_its_own_address_by_its_variable(tmp_path: Path) -> None:
    books = Loopback(Giver(tmp_path)), LoopbackFile(tmp_path)
    assert {it.self_host("ns", "s") for it in books} == {"$(POD_IP)"}
    assert {it.listen_host() for it in books} == {"$(POD_IP)"}


def test_a_folder_without_a_cluster_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be the folder of a local cluster"):
        LoopbackFile(tmp_path).host(ObjectKey("ns", "a-0"), "s")
