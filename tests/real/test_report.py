"""What a run with ``--real`` prints at its end, as a picture."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from fakes.programs import saying
from real import planes
from real.report import Asked, asked_of, lines_of, parts_text, servers
from stateward.local.real import programs

NAMES = "tests/contract/kubernetes/test_names.py"
ORDER = "tests/contract/controllers/test_order.py"
CREATE = "tests/contract/test_client_create.py"


def report(nodeid: str, differs: str = "") -> pytest.TestReport:
    made = pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, "call")
    if differs:
        made.wasxfail = f"differs: {differs}"
    return made


def reports(path: str, *tests: str) -> list[pytest.TestReport]:
    return [report(f"{path}::test_{it}") for it in tests]


@pytest.mark.parametrize(
    ("test", "story", "case", "column"),
    [
        ("test_a[embedded]", "test_a", "", "embedded"),
        ("test_a[1.35-Upper]", "test_a", "Upper", "1.35"),
        ("test_a[Upper-1.32]", "test_a", "Upper", "1.32"),
        ("test_a[embedded--dash-1.35]", "test_a", "-dash-1.35", "embedded"),
        ("test_a[given-x[0]::y]@group", "test_a", "x[0]::y", "given"),
    ],
)
def test_a_tests_name_says_whom_it_asks(test: str, story: str, case: str, column: str) -> None:
    asked = asked_of(f"{NAMES}::{test}")

    assert isinstance(asked, Asked)
    assert (asked.story, asked.case, asked.column) == (story, case, column)


@pytest.mark.parametrize("nodeid", [f"{NAMES}::test_a", f"{NAMES}::test_a[x]", "tests/unit/test_a.py::test_a[http]"])  # fmt: skip
def test_others_ask_no_column(nodeid: str) -> None:
    assert asked_of(nodeid) is None


def test_the_columns_stand_side_by_side() -> None:
    columns = ("embedded", "1.35", "1.32")
    stats = {
        "passed": [
            *reports(NAMES, *(f"a_name_is_given_once[{it}]" for it in columns)),
            *reports(NAMES, *(f"odd_names[{it}-{case}]" for case in "ab" for it in columns)),
            *reports(NAMES, "some_names[embedded-a]", "some_names[1.35-a]", "some_names[1.35-b]"),
            *reports(NAMES, *(f"most_names[{it}-{case}]" for case in "abc" for it in columns[1:])),
            *reports(NAMES, "most_names[embedded-a]", "most_names[embedded-c]"),
            *reports(ORDER, "upwards[1.35]"),
            *reports(CREATE, "a[memory]", "a[http]", "a[1.35]", "b[memory]", "b[http]"),
        ],
        "skipped": reports(CREATE, "a[1.32]"),
        "xfailed": [report(f"{ORDER}::test_upwards[embedded]", "Pods are slow.")],
        "failed": reports(NAMES, "some_names[embedded-b]", "most_names[embedded-b]"),
        "error": reports(CREATE, "b[1.35]"),
    }

    assert "\n".join(lines_of(stats)) == dedent(
        """
        controllers/test_order.py  embedded 1.35     1.32
          upwards                  differs  ok       -

        kubernetes/test_names.py   embedded 1.35     1.32
          a name is given once     ok       ok       ok
          odd names (2 cases)      ok       ok       ok
          some names: a            ok       ok       -
          some names: b            FAILED   ok       -
          most names (2 cases)     ok       ok       ok
          most names: b            FAILED   ok       ok

        9 stories; embedded: 6 ok, 1 differs, 2 FAILED; 1.35: 9 ok; 1.32: 6 ok

        truths of the client     memory  http  1.35            1.32
          test_client_create.py  2 ok    2 ok  1 ok, 1 FAILED  1 not asked

        2 truths; memory: 2 ok; http: 2 ok; 1.35: 1 ok, 1 FAILED; 1.32: 1 not asked

        The embedded Kubernetes knowingly differs:
          Pods are slow.
            upwards"""
    )


def test_a_test_that_passed_and_then_failed_to_clean_up_has_failed() -> None:
    stats = {"passed": reports(NAMES, "a[embedded]"), "error": reports(NAMES, "a[embedded]")}

    assert lines_of(stats)[2].split() == ["a", "FAILED"]


def test_of_real_ones_alone_it_has_their_columns_and_says_so() -> None:
    stats = {"passed": reports(NAMES, "a[1.35]", "a[1.32]")}

    assert lines_of(stats)[1].split() == ["kubernetes/test_names.py", "1.35", "1.32"]
    assert [it.partition(":")[0] for it in servers(alone=True)][:1] == ["embedded"]
    assert not any(it.startswith("embedded") for it in servers())


@pytest.mark.parametrize(
    ("environment", "real", "asked"),
    [
        ({}, [], ["ours"]),
        ({}, ["1.35"], ["ours", "1.35"]),
        ({planes.ALONE: "yes"}, ["1.35"], ["1.35"]),
        ({planes.ALONE: "yes"}, [], ["ours"]),
    ],
    ids=["embedded", "beside it", "alone", "with no real one to ask"],
)
def test_whom_a_run_asks(
    environment: dict[str, str], real: list[str], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(planes.ALONE, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert list(planes.columns({"ours": 0}, dict.fromkeys(real, 0))) == asked


def test_without_columns_there_is_nothing_to_say() -> None:
    assert lines_of({"passed": reports("tests/unit/test_a.py", "a")}) == []


def test_a_run_that_asks_nothing_real_says_what_is_there(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    for part in programs.PARTS:
        for program in part.programs:
            path = programs.cache(environment) / part.folder / f"{part.release}.1.0" / program
            saying(path, "")

    assert parts_text(environment) == (
        "kubernetes 1.35, kubernetes 1.32, etcd 3.6, etcd 3.5, helm 3, promtool 3 are on this machine;"
        " `make test-real` asks them"
    )

    for name in ("etcd-3.5/3.5.1.0/etcdctl", "helm-3/3.1.0/helm"):
        (programs.cache(environment) / name).unlink()

    assert parts_text(environment) == (
        "no etcd 3.5, helm 3 on this machine, and this run does without;"
        " `make test-real` obtains them with Go and asks them"
    )
