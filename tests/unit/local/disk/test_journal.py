"""What was acknowledged is there after a restart, wherever the file was cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.names import named
from stateward.kube.errors import Gone, Unavailable
from stateward.kube.meta import ObjectKey
from stateward.local.disk import journal as module
from stateward.local.disk import records
from stateward.local.disk.errors import FolderUnusable, JournalUnreadable
from stateward.local.disk.journal import DAMAGED, NAME, Journal
from stateward.local.store import Store


def thing(name: str, **data: Any) -> dict[str, Any]:
    metadata = {"namespace": "shop", "name": name, "uid": f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def contents(store: Store) -> dict[str, bytes]:
    return {f"{resource} {stored.key}": stored.text for resource, stored in store}


def opened(folder: Path, said: list[str] | None = None, **options: Any) -> Journal:
    return Journal(folder, say=(said if said is not None else []).append, **options)


def test_a_store_is_as_it_was_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        for name in "abc":
            journal.store.put("configmaps", thing(name))
        journal.store.put("configmaps", thing("a", motto="new"))
        journal.store.remove("configmaps", ObjectKey("shop", "b"))
        before, revision = contents(journal.store), journal.store.revision

    with opened(tmp_path) as journal:
        assert contents(journal.store) == before
        assert journal.store.revision == revision


def test_a_watch_from_before_the_restart_is_told_that_its_past_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        journal.store.put("configmaps", thing("a"))
        seen = journal.store.revision
        journal.store.remove("configmaps", ObjectKey("shop", "a"))

    with opened(tmp_path) as journal, pytest.raises(Gone):
        journal.store.events_since("configmaps", seen)


Writes = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=12)


@given(Writes, st.data())
def test_cut_anywhere_every_whole_record_survives(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[str, bool]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    states: list[tuple[int, dict[str, bytes]]] = []
    path = folder / NAME
    with opened(folder) as journal:
        states.append((path.stat().st_size, {}))
        for name, wanted in writes:
            key = ObjectKey("shop", name)
            if wanted:
                journal.store.put("configmaps", thing(name, n=str(len(states))))
            elif journal.store.get("configmaps", key) is not None:
                journal.store.remove("configmaps", key)
            states.append((path.stat().st_size, contents(journal.store)))

    cut = data.draw(st.integers(0, states[-1][0]))
    os.truncate(path, cut)
    said: list[str] = []
    with opened(folder, said) as journal:
        whole = [state for length, state in states if length <= cut]
        assert contents(journal.store) == (whole[-1] if whole else {})
        ends = {0, len(records.HEADER), *(length for length, _ in states)}
        assert bool(said) == (cut not in ends)


def test_a_damaged_record_ends_the_journal_and_what_followed_is_kept_aside(tmp_path: Path) -> None:
    with opened(tmp_path) as journal:
        for name in "abc":
            journal.store.put("configmaps", thing(name))
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().replace(b'"name":"b"', b'"name":"B"'))

    said: list[str] = []
    with opened(tmp_path, said) as journal:
        assert list(contents(journal.store)) == ["configmaps shop/a"]
        journal.store.put("configmaps", thing("d"))

    assert len(said) == 1
    assert "repaired to the last whole record" in said[0]
    aside = (tmp_path / f"{DAMAGED}.1").read_bytes()
    assert b'"name":"B"' in aside
    assert b'"name":"c"' in aside
    with opened(tmp_path) as journal:
        assert list(contents(journal.store)) == ["configmaps shop/a", "configmaps shop/d"]


def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("dear diary\n")

    with pytest.raises(JournalUnreadable, match="must begin with"), opened(tmp_path):
        pass

    assert (tmp_path / NAME).read_text() == "dear diary\n"


def test_a_journal_of_old_versions_is_written_anew(tmp_path: Path) -> None:
    with opened(tmp_path, small=1_000) as journal:
        for number in range(100):
            journal.store.put("configmaps", thing("a", n=str(number)))
        long = (tmp_path / NAME).stat().st_size
        journal.shorten()
        assert (tmp_path / NAME).stat().st_size < long / 20
        journal.store.put("configmaps", thing("b"))
        before, revision = contents(journal.store), journal.store.revision

    with opened(tmp_path) as journal:
        assert contents(journal.store) == before
        assert journal.store.revision == revision


@pytest.mark.parametrize("taken", [0, 10])
def test_on_a_full_disk_the_write_is_refused_and_nothing_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    real = os.write
    room: list[int] = []

    def full(file: int, data: Any) -> int:
        if room and not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        if room:
            size, room[0] = room[0], 0
            return real(file, bytes(data)[:size])
        return real(file, data)

    monkeypatch.setattr(module.os, "write", full)
    with opened(tmp_path) as journal:
        journal.store.put("configmaps", thing("a"))
        before, revision = contents(journal.store), journal.store.revision
        room.append(taken)

        with pytest.raises(Unavailable, match="No space left"):
            journal.store.put("configmaps", thing("b"))
        with pytest.raises(Unavailable, match="No space left"):
            journal.store.remove("configmaps", ObjectKey("shop", "a"))

        assert contents(journal.store) == before
        assert journal.store.revision == revision
        room.clear()
        journal.store.put("configmaps", thing("c"))

    said: list[str] = []
    with opened(tmp_path, said) as journal:
        assert list(contents(journal.store)) == ["configmaps shop/a", "configmaps shop/c"]
    assert said == []


def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()

    with pytest.raises(FolderUnusable, match="must be a file to write to"), opened(tmp_path):
        pass


def test_what_is_worth_keeping_decides_when_a_journal_is_long_not_what_it_began_with(
    tmp_path: Path,
) -> None:
    for _ in range(6):
        with opened(tmp_path, small=1_000) as journal:
            for number in range(40):
                journal.store.put("configmaps", thing("a", n=str(number)))
            journal.shorten()

    assert (tmp_path / NAME).stat().st_size < 20_000


def _unlinked(folder: Path) -> None:
    (folder / NAME).unlink()


def _gone(folder: Path) -> None:
    (folder / NAME).unlink()
    folder.rmdir()


def _emptied(folder: Path) -> None:
    os.truncate(folder / NAME, 0)


def _scribbled(folder: Path) -> None:
    with (folder / NAME).open("ab") as file:
        file.write(b"dear diary\n")


@pytest.mark.parametrize("harm", [_unlinked, _gone, _emptied, _scribbled], ids=named)
def test_a_journal_that_somebody_harms_is_made_anew_and_said(tmp_path: Path, harm: Any) -> None:
    folder, said = tmp_path / "data", list[str]()
    folder.mkdir()
    with opened(folder, said) as journal:
        journal.store.put("configmaps", thing("a"))
        harm(folder)
        journal.store.put("configmaps", thing("b"))
        journal.check_place()
        journal.check_place()
        journal.store.put("configmaps", thing("c"))

    assert len(said) == 1
    assert "was not as we left it; it was made anew, and nothing is lost" in said[0]
    with opened(folder, said) as journal:
        assert [key.rpartition("/")[2] for key in contents(journal.store)] == ["a", "b", "c"]
    assert len(said) == 1


def test_while_it_cannot_be_made_anew_writes_are_refused_and_then_no_more(tmp_path: Path) -> None:
    said: list[str] = []
    with opened(tmp_path, said) as journal:
        journal.store.put("configmaps", thing("a"))
        (tmp_path / NAME).unlink()
        (tmp_path / NAME).mkdir()
        for _ in range(3):
            journal.check_place()
            with pytest.raises(Unavailable, match="cannot be made anew"):
                journal.store.put("configmaps", thing("b"))
        (tmp_path / NAME).rmdir()
        journal.check_place()
        journal.store.put("configmaps", thing("c"))

    assert [it.partition(": ")[0].rpartition("/")[2] for it in said] == [
        "journal was taken away and cannot be made anew",
        "journal was not as we left it; it was made anew, and nothing is lost",
    ]
    with opened(tmp_path) as journal:
        assert [key.rpartition("/")[2] for key in contents(journal.store)] == ["a", "c"]
