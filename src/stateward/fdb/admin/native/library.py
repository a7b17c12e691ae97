"""FoundationDB's own client: the Python package foundationdb, and libfdb_c below it.

Both are optional, and loaded when somebody asks for them. A process has one libfdb_c and one
network thread, so it is loaded once, with the certificates of everybody; it understands databases
of its own minor release, and sees others as silent.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol, cast

from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.session import Tls

#: What we speak with libfdb_c; 7.3 is the first that understands it.
API_VERSION: Final = 730
_MODULE: Final = "fdb"


class NativeFuture(Protocol):
    """An answer that comes later, on a thread of libfdb_c's."""

    def is_ready(self) -> bool:
        """Tell whether it is there."""

    def on_ready(self, callback: Callable[[Any], None]) -> None:
        """Call back when it is there: on this thread, or on libfdb_c's."""

    def wait(self) -> Any:
        """Return it, or raise FDBError; blocks until it is there."""


class NativeValue(NativeFuture, Protocol):
    """A value that comes later."""

    @property
    def value(self) -> bytes | None:
        """The value; None: there is no such key."""


class NativeRow(Protocol):
    """A key and its value."""

    key: bytes
    value: bytes


class NativeRange(Protocol):
    """Keys and values that come in pages; the first was asked for already."""

    #: Its ``wait`` returns rows, how many there are, and whether there are more.
    _future: NativeFuture


class NativeOptions(Protocol):
    """What a transaction may do, and for how long."""

    def set_access_system_keys(self) -> None:
        """Let it read and write keys of the system."""

    def set_lock_aware(self) -> None:
        """Let it work on a locked database."""

    def set_special_key_space_enable_writes(self) -> None:
        """Let it manage the database by keys."""

    def set_special_key_space_relaxed(self) -> None:
        """Let a range reach over several kinds of such keys."""

    def set_timeout(self, param: int) -> None:
        """End it after so many milliseconds."""

    def set_retry_limit(self, param: int) -> None:
        """Try it again so often, and no more."""


class NativeTransaction(Protocol):
    """A transaction of libfdb_c's."""

    options: NativeOptions

    def get(self, key: bytes) -> NativeValue:
        """Ask for a value."""

    def get_range(
        self,
        begin: bytes,
        end: bytes,
        limit: int = 0,
        reverse: bool = False,  # noqa: FBT001, FBT002 - as it is there
        streaming_mode: int = -1,
    ) -> NativeRange:
        """Ask for keys and values from one on and below another."""

    def set(self, key: bytes, value: bytes) -> None:
        """Write a value."""

    def clear(self, key: bytes) -> None:
        """Take a key away."""

    def clear_range(self, begin: bytes, end: bytes) -> None:
        """Take away all keys from one on and below another."""

    def commit(self) -> NativeFuture:
        """Have it all done, or nothing."""

    def cancel(self) -> None:
        """End it, and whatever it waits for."""


class NativeDatabase(Protocol):
    """A database of libfdb_c's."""

    def create_transaction(self) -> NativeTransaction:
        """Begin a transaction."""


class _StreamingMode(Protocol):
    @property
    def want_all(self) -> int: ...


class _Impl(Protocol):
    #: By cluster file, every database that was opened: it keeps them for ever.
    open_databases: dict[str, NativeDatabase]


class Library(Protocol):
    """The module ``fdb``, as far as we use it."""

    FDBError: type[Exception]
    StreamingMode: _StreamingMode
    impl: _Impl

    def open(self, cluster_file: str) -> NativeDatabase:
        """Return the database that a cluster file leads to; the first call starts the network."""


def load(client: Path | None = None, tls: Tls | None = None) -> Library:
    """Return the module, ready to open databases; raise ProgramUnusable.

    ``client`` is the libfdb_c to use; without it the system has one where libraries are looked for.
    """
    if client is not None:
        _preload(client)
    module = _imported()
    try:
        module.api_version(API_VERSION)
    # The package raises Exception itself, and whatever ctypes says of a library that is none.
    except Exception as error:  # noqa: BLE001
        raise ProgramUnusable(
            "libfdb_c of FoundationDB 7.3 must be on this machine, and the package foundationdb"
            f" must fit it: {error}",
            hint="`stateward local get-fdb` fetches it; the package must be of its minor release",
        ) from None
    if tls is not None:
        _identify(module, tls)
    return cast("Library", module)


def _preload(client: Path) -> None:
    """Have a library in memory: whoever asks for one of its name is given that one."""
    try:
        ctypes.CDLL(str(client))
    except OSError as error:
        raise ProgramUnusable(
            f"{client} must be a library that can be loaded: {error}",
            hint="`stateward local get-fdb` fetches libfdb_c for this machine",
        ) from None


def _imported() -> ModuleType:
    try:
        module = importlib.import_module(_MODULE)
    except ImportError as error:
        raise ProgramUnusable(
            f"the package foundationdb must be installed to reach keys of a database: {error}",
            hint="`pip install 'stateward[fdb]'`",
        ) from None
    if not callable(getattr(module, "api_version", None)):
        raise ProgramUnusable(
            f"the module {_MODULE} must be that of the package foundationdb,"
            f" and is {getattr(module, '__file__', None)}",
            hint="another package has the same name: uninstall it, and install foundationdb again",
        )
    return module


def _identify(module: ModuleType, tls: Tls) -> None:
    files: Sequence[tuple[str, str | bytes]] = [
        ("cert_path", str(tls.certificate)),
        ("key_path", str(tls.key)),
        ("ca_path", str(tls.authority)),
        *([("verify_peers", tls.verify_peers.encode())] if tls.verify_peers else []),
    ]
    try:
        for name, value in files:
            getattr(module.options, f"set_tls_{name}")(value)
    except module.FDBError as error:
        raise ProgramUnusable(
            f"libfdb_c must be told of certificates before it is used: {error}"
        ) from None
