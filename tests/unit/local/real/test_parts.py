"""What a real control plane is made with, each by itself: ports, logs, restarts, words."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from fakes.bench import Bench
from stateward.core.chance import Chance
from stateward.core.errors import UsageError
from stateward.local.agent.processes import StartFailed
from stateward.local.cluster import Plan
from stateward.local.controllers.cluster.staff import Terms
from stateward.local.real import doors, keeping
from stateward.local.real.cluster import plane_terms
from stateward.local.real.saying import SaidFile, last_line


def test_ports_are_free_and_not_of_those_for_outgoing_connections() -> None:
    first = doors.free(Chance(1))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        taken.listen()
        second = doors.free(Chance(1))

        assert second != first
        assert doors.free(Chance(1), [second]) not in {first, second}
        with pytest.raises(UsageError, match=rf"127.0.0.1:{first} must be free to listen on"):
            doors.check_free(first)
    doors.check_free(first)
    assert 16_384 <= min(first, second) <= max(first, second) < 32_768


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    for _run in range(2):
        said = SaidFile(path, largest=100)
        for number in range(50):
            said.write(f"line {number}\n".encode())
        said.close()

    assert path.stat().st_size <= 100
    assert sorted(it.name for it in path.parent.iterdir()) == ["part.log", "part.log.1"]
    assert last_line(path) == "line 49"


def test_a_log_that_could_not_be_turned_goes_on_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "part.log"
    said = SaidFile(path, largest=20)
    said.write(b"an early line\n")

    def full(*_words: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for refused in ("replace", "open"):
        with monkeypatch.context() as now:
            now.setattr(Path, refused, full)
            said.write(b"a line that is lost\n")
    said.write(b"a late line\n")
    said.close()

    assert path.read_text() == "a late line\n"
    assert Path(f"{path}.1").read_text() == "an early line\n"


GO_PANICS = b"""I1115 13:00:00.000000       1 server.go:150] starting
panic: no room for error [recovered]

goroutine 1 [running]:
main.failed({0x1, 0x2})
\t/go/src/errors.go:12 +0x1b
k8s.io/component-base/cli.(*error).run(...)
\t/go/src/run.go:45
created by main.main in goroutine 1
\tmain.go:31 +0x28
"""
ETCD_ENDS = b"""{"level":"fatal","ts":"x","msg":"discovery failed","error":"in use","stacktrace":"main.go:1"}
{"level":"info","msg":"closing"}
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GO_PANICS, "panic: no room for error [recovered]"),
        (ETCD_ENDS, "discovery failed: in use"),
        (b'{"level":"info","msg":"closed"}\n', "closed"),
        (b'{"level":"info"}\n7\n', "7"),
        (b'E1115 13:00:00.1 1 run.go:72] "no" err="x"\nbye\n', 'E1115 13:00:00.1 1 run.go:72] "no" err="x"'),
        (b"Error: unknown flag: --x\nsee --help\n", "Error: unknown flag: --x"),
        (b"main.main()\n\tmain.go:31 +0x28\n", "main.go:31 +0x28"),
        (b"one\ntwo  words\n\n", "two words"),
        (b"x" * 9000, "x" * 300),
        (b"\xff", "\ufffd"),
        (b"\n \n", "it said nothing"),
        (None, "it said nothing"),
    ],
)  # fmt: skip
def test_the_last_line_is_what_a_person_wants_to_see(
    tmp_path: Path, text: bytes | None, line: str
) -> None:
    path = tmp_path / "part.log"
    if text is not None:
        path.write_bytes(text)

    assert last_line(path) == line


class FragilePlane:
    """Parts that end after some seconds, as a test says."""

    def __init__(self, bench: Bench, **lives: list[float]) -> None:
        self._clock = bench.clock
        self._lives = lives
        self.parts = tuple(lives)
        #: So often nothing can be started.
        self.refusals = 0
        self.started: list[tuple[str, float]] = []

    async def wait(self, name: str) -> int:
        if not self._lives[name]:
            await asyncio.Event().wait()
        await self._clock.sleep(self._lives[name].pop(0))
        return -signal.SIGKILL

    def start(self, name: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StartFailed(f"{name} must be a program that runs")
        self.started.append((name, round(self._clock.monotonic(), 1)))

    def log(self, name: str) -> Path:
        return Path(f"/log/{name}")


@pytest.mark.virtual
async def test_parts_that_end_are_started_again_later_each_time_and_it_is_said():
    bench, said = Bench(), []
    plane = FragilePlane(bench, etcd=[1000, 0, 0, 100], scheduler=[5])
    began = bench.clock.monotonic()
    task = asyncio.create_task(keeping.keep(plane, bench.ports, said.append))  # type: ignore[arg-type]
    await bench.clock.sleep(1300)
    task.cancel()

    assert [name for name, _ in plane.started] == ["scheduler", *["etcd"] * 4]
    moments = [began + 1000, *(at for name, at in plane.started if name == "etcd")]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert gaps[0] < gaps[1] < gaps[2]
    assert gaps[3] - 100 < 1, "it ran well in between"
    assert said[0].startswith("local: scheduler was killed by SIGKILL; started again in 0.")
    assert said[0].endswith("s, see /log/scheduler")
    assert len(said) == 5


@pytest.mark.virtual
async def test_a_part_that_cannot_be_started_is_tried_again():
    bench, said = Bench(), []
    plane = FragilePlane(bench, etcd=[1, 0])
    plane.refusals = 1
    task = asyncio.create_task(keeping.keep(plane, bench.ports, said.append))  # type: ignore[arg-type]
    await bench.clock.sleep(10)
    task.cancel()

    assert [name for name, _ in plane.started] == ["etcd"]
    assert said[1] == "local: etcd cannot be started, and must be: etcd must be a program that runs"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            Plan(Path("x"), terms=Terms(lost_after=20, evict_after=30)),
            (
                "--default-not-ready-toleration-seconds=30"
                " --default-unreachable-toleration-seconds=30"
                " --node-monitor-grace-period=20s --unsafe-no-fsync"
            ),
        ),
        (
            Plan(Path("x"), durable=True, terms=Terms(lost_after=7)),
            "--node-monitor-grace-period=7s",
        ),
    ],
    ids=["patience of its own", "kept"],
)
def test_a_control_plane_is_as_patient_as_the_plan_says(plan: Plan, words: str) -> None:
    told = [word for words in plane_terms(plan).extra.values() for word in words]

    assert " ".join(told) == words
