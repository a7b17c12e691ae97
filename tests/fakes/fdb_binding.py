"""The module ``fdb`` of the package foundationdb in shape, with the stand-in's database behind it.

As there: an API version is chosen first; answers come on a thread of its own; who waits for one that
is not there blocks, which on the loop's thread is an error here; options allow what is forbidden.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from stateward.core.errors import OutcomeUnknown
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.keys import FdbError
from stateward.emulate.fdb.keys import Transaction as Plain
from stateward.emulate.fdb.keyspace import ModelTransaction
from stateward.emulate.fdb.refusing import refusal

CANCELLED, TIMED_OUT, UNKNOWN, NO_SPECIAL_WRITES, REFUSED = 1025, 1031, 1021, 2114, 2117
LATEST = 730
_SPECIAL = b"\xff\xff"
_OPTIONS = {
    "access_system_keys",
    "lock_aware",
    "special_key_space_enable_writes",
    "special_key_space_relaxed",
    "timeout",
    "retry_limit",
}
_WORDS = {
    CANCELLED: "Operation aborted because the transaction was cancelled",
    TIMED_OUT: "Operation aborted because the transaction timed out",
    UNKNOWN: "Transaction may or may not have committed",
    NO_SPECIAL_WRITES: "Special Key space is not allowed to write by default.",
    REFUSED: "Api call through special keys failed.",
}


class FDBError(Exception):
    """An error by its number; its words are bytes."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def description(self) -> bytes:
        return _WORDS.get(self.code, FdbError(self.code).words).encode()

    def __str__(self) -> str:
        return f"{self.description!r} ({self.code})"


class Network:
    """The thread on which all is done."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True, name="fdb-network-thread")
        self.thread.start()

    def _run(self) -> None:
        while True:
            self._work.get()()

    def put(self, work: Callable[[], None]) -> None:
        self._work.put(work)


class Hangs(Exception):
    """Nobody answers."""


class Future:
    """What comes later."""

    def __init__(self, network: Network, work: Callable[[], Any]) -> None:
        self._there = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[Any], None]] = []
        self._result: Any = None
        self._error: FDBError | None = None
        network.put(lambda: self._do(work))

    def _do(self, work: Callable[[], Any]) -> None:
        try:
            self.settle(work())
        except Hangs:
            return
        except FdbError as error:
            self.settle(error=error.code)
        except FDBError as error:
            self.settle(error=error.code)

    def settle(self, result: Any = None, error: int = 0) -> None:
        with self._lock:
            if self._there.is_set():
                return
            self._result, self._error = result, FDBError(error) if error else None
            self._there.set()
            waiting, self._callbacks = self._callbacks, []
        for it in waiting:
            it(self)

    def is_ready(self) -> bool:
        return self._there.is_set()

    def on_ready(self, callback: Callable[[Any], None]) -> None:
        with self._lock:
            if not self._there.is_set():
                self._callbacks.append(callback)
                return
        callback(self)

    def wait(self) -> Any:
        assert self._there.is_set(), "who waits now blocks the loop"
        if self._error is not None:
            raise self._error
        return self._result

    @property
    def value(self) -> bytes | None:
        return self.wait()


@dataclass
class Row:
    key: bytes
    value: bytes


@dataclass
class Rows:
    _future: Future


@dataclass
class Trouble:
    """What goes wrong, by what is called: ``get``, ``get_range``, ``commit``."""

    #: With which error.
    fails: dict[str, int] = field(default_factory=dict)
    #: Not answered: until the transaction's time is over, or (deaf) never.
    hangs: set[str] = field(default_factory=set)
    deaf: set[str] = field(default_factory=set)
    #: What ``\xff\xff/error_message`` says.
    message: bytes | None = None
    #: Rows of one page.
    page: int = 2


class Options:
    """All that may be set, and what was."""

    def __init__(self) -> None:
        self.chosen: dict[str, int] = {}

    def __getattr__(self, name: str) -> Callable[..., None]:
        option = name.removeprefix("set_")
        if not name.startswith("set_") or option not in _OPTIONS:
            raise AttributeError(name)
        return lambda param=1: self.chosen.update({option: param})


def _now(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns that waits for nobody."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the stand-in must not wait")


class Transaction:
    """A transaction, on the stand-in's."""

    def __init__(self, model: Database, network: Network, trouble: Trouble) -> None:
        self.options = Options()
        self._model, self._network, self._trouble = model, network, trouble
        self._inner: ModelTransaction | None = None
        self._plain: Plain | None = None
        self._wrong: int = 0
        self._said: bytes | None = None
        self._pending: list[tuple[str, Future]] = []
        self.cancelled = False

    def _mine(self) -> ModelTransaction:
        if not self._model.recovery.serves:
            raise Hangs
        if self._inner is None:
            chosen = self.options.chosen
            self._plain = Plain(
                self._model.store,
                self._model.now,
                system="access_system_keys" in chosen,
                aware="lock_aware" in chosen,
            )
            self._inner = ModelTransaction(self._model, self._plain)
        return self._inner

    def _later(self, what: str, work: Callable[[], Any]) -> Future:
        def do() -> Any:
            if what in self._trouble.hangs | self._trouble.deaf:
                raise Hangs
            if what in self._trouble.fails:
                raise FDBError(self._trouble.fails[what])
            return work()

        made = Future(self._network, do)
        self._pending.append((what, made))
        if what not in self._trouble.deaf and "timeout" in self.options.chosen:
            seconds = self.options.chosen["timeout"] / 1000
            clock = threading.Timer(seconds, made.settle, kwargs={"error": TIMED_OUT})
            clock.daemon = True
            clock.start()
            made.on_ready(lambda _: clock.cancel())
        return made

    def get(self, key: bytes) -> Future:
        if key == b"\xff\xff/error_message":
            return Future(self._network, lambda: self._said or self._trouble.message)
        return self._later("get", lambda: _now(self._mine().get(key)))

    def get_range(
        self, begin: bytes, end: bytes, limit: int = 0, reverse: bool = False, mode: int = -1
    ) -> Rows:
        assert (limit, reverse, mode) == (0, False, -2)

        def work() -> tuple[list[Row], int, bool]:
            found = _now(self._mine().get_range(begin, end))
            page = [Row(*it) for it in found[: self._trouble.page]]
            return page, len(page), len(page) < len(found)

        return Rows(self._later("get_range", work))

    def set(self, key: bytes, value: bytes) -> None:
        self._write(key, lambda: self._mine().set(key, value))

    def clear(self, key: bytes) -> None:
        self._write(key, lambda: self._mine().clear(key))

    def clear_range(self, begin: bytes, end: bytes) -> None:
        self._write(begin, lambda: self._mine().clear_range(begin, end))

    def _write(self, key: bytes, work: Callable[[], None]) -> None:
        """Write; what is wrong with it is told by the commit."""
        if key.startswith(_SPECIAL) and "special_key_space_enable_writes" not in (
            self.options.chosen
        ):
            self._wrong = NO_SPECIAL_WRITES
            return
        try:
            work()
        except FdbError as error:
            self._wrong = error.code
        except Hangs:
            return

    def commit(self) -> Future:
        return self._later("commit", self._commit)

    def _commit(self) -> None:
        mine = self._mine()
        if self._wrong:
            raise FDBError(self._wrong)
        self._said = refusal(self._model, dict(mine.managed))
        if self._said is not None:
            raise FDBError(REFUSED)
        assert self._plain is not None
        self._plain.commit(self._model.now)
        try:
            mine.manage()
        except OutcomeUnknown:
            raise FDBError(UNKNOWN) from None

    def cancel(self) -> None:
        self.cancelled = True
        for what, it in self._pending:
            if what not in self._trouble.deaf:
                it.settle(error=CANCELLED)


@dataclass
class Opened:
    """A database that was opened by its cluster file."""

    model: Database
    network: Network
    trouble: Trouble
    transactions: list[Transaction] = field(default_factory=list)

    def create_transaction(self) -> Transaction:
        made = Transaction(self.model, self.network, self.trouble)
        self.transactions.append(made)
        return made


class _Modes:
    want_all = -2


class FakeFdb(ModuleType):
    """The module: what tests use of it besides is ``trouble``, ``told`` and ``chosen``."""

    def __init__(self, model: Database, *, latest: int = LATEST, library: int = LATEST) -> None:
        super().__init__("fdb")
        self._model = model
        self._latest, self._library = latest, library
        self.trouble = Trouble()
        self.chosen = 0
        #: Network options that were set.
        self.told: dict[str, object] = {}
        self.FDBError = FDBError
        self.StreamingMode = _Modes()
        self.impl = ModuleType("fdb.impl")
        self.impl.open_databases = {}  # type: ignore[attr-defined]
        self.options = self
        self._network: Network | None = None

    def api_version(self, wanted: int) -> None:
        if wanted > self._latest:
            raise RuntimeError(f"Latest known FDB API version is {self._latest}")
        if self._library == 0:
            raise Exception("Unable to locate the FoundationDB API shared library!")  # noqa: TRY002
        if self._latest > self._library:
            raise RuntimeError(
                "This version of the FoundationDB Python binding is not supported by the installed"
                " FoundationDB C library."
            )
        self.chosen = wanted

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("set_tls_"):
            raise AttributeError(name)

        def setting(value: object) -> None:
            if self._network is not None:
                raise FDBError(2009)
            self.told[name] = value

        return setting

    def open(self, cluster_file: str) -> Opened:
        if not self.chosen:
            raise RuntimeError("You must call api_version() before using any fdb methods")
        self._network = self._network or Network()
        every = self.impl.open_databases  # type: ignore[attr-defined]
        if cluster_file not in every:
            every[cluster_file] = Opened(self._model, self._network, self.trouble)
        return every[cluster_file]
