"""What the programs say to each other; the first message of a connection says what it is about."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec


class Message(msgspec.Struct, frozen=True, tag=True):
    """Whatever is said."""


# -------------------------------------------------------------------------- to a coordinator


class Find(Message, frozen=True):
    """Who controls a cluster? A process says where it is itself."""

    cluster: str
    asker: str = ""


class Found(Message, frozen=True):
    """Who does, as far as this coordinator let it; or how the cluster is found since."""

    holder: str = ""
    forward: str = ""


class Stand(Message, frozen=True):
    """Let me control a cluster for a while, or go on letting me."""

    cluster: str
    candidate: str
    term: int


class Release(Message, frozen=True):
    """I do not control it any more."""

    cluster: str
    candidate: str


class Granted(Message, frozen=True):
    """Whether that is so; which term was the last that was promised to anybody."""

    is_so: bool
    term: int
    forward: str = ""


class Read(Message, frozen=True):
    """What do you keep of a cluster?"""

    cluster: str


class Kept(Message, frozen=True):
    """What is kept, and of which term that is: nothing at all has version 0."""

    version: int = 0
    state: bytes = b""
    term: int = 0


class Write(Message, frozen=True):
    """Keep this, unless somebody with a later term came."""

    cluster: str
    term: int
    version: int
    state: bytes


class Forward(Message, frozen=True):
    """Tell everybody who asks that the cluster is found so from now on."""

    cluster: str
    term: int
    to: str


# -------------------------------------------------------------------------- to who controls


class Join(Message, frozen=True):
    """I am a process of this cluster."""

    process_id: str
    addresses: str
    process_class: str
    localities: dict[str, str]
    version: str
    command_line: str
    started: float


class Beat(Message, frozen=True):
    """I am still there; these came to me and speak another protocol, by their addresses."""

    strangers: list[str] = []


class Told(Message, frozen=True):
    """How the cluster is found: said to processes at first, and whenever it changes."""

    string: str


class Options(msgspec.Struct, frozen=True):
    """What was turned on, and listed, in one talk with fdbcli."""

    may_write: bool = False
    system: bool = False
    lock_aware: bool = False
    may_manage: bool = False
    listed: list[str] = []


class Exec(Message, frozen=True):
    """Run a line of fdbcli for somebody who has this cluster file."""

    line: str
    timeout: float
    path: str
    string: str
    version: str
    #: Whether that file can be written anew.
    is_writable: bool = True
    log_group: str = "default"
    #: Files that the line names, with their texts.
    files: dict[str, str] = {}
    options: Options = Options()


class Printed(Message, frozen=True):
    """More of what it prints."""

    out: str = ""
    err: str = ""


class Kill(Message, frozen=True):
    """Whoever runs fdbcli shall tell a process to end, or to stand still for a while first."""

    address: str
    seconds: float = 0.0


class Ended(Message, frozen=True):
    """The line is over: its code, how the cluster is found, and what is turned on by now."""

    code: int
    string: str
    options: Options = Options()


class Transact(Message, frozen=True):
    """What follows is one transaction."""


class Get(Message, frozen=True):
    """Return a value."""

    key: bytes


class GetRange(Message, frozen=True):
    """Return keys and values."""

    begin: bytes
    end: bytes


class Commit(Message, frozen=True):
    """Write all of this, or nothing; None takes a key away, and before it ranges are."""

    writes: list[tuple[bytes, bytes | None]]
    clears: list[tuple[bytes, bytes]] = []


class Values(Message, frozen=True):
    """What was asked for."""

    found: list[tuple[bytes, bytes]]


class Done(Message, frozen=True):
    """It is so."""


class Refused(Message, frozen=True):
    """It is not: of which kind that is, a sentence, and whether it may be later."""

    kind: str
    text: str
    later: bool = False


class Perform(Message, frozen=True):
    """Carry out a command of fdbbackup or fdbrestore, for one with such a library."""

    asked: bytes
    version: str
    log_group: str = "default"


class Agent(Message, frozen=True):
    """I do the work of backups: give me some."""

    name: str
    version: str
    log_group: str = "default"


class Given(Message, frozen=True):
    """A piece of that; nothing: there is none now."""

    piece: bytes = b""


class Reported(Message, frozen=True):
    """How it went; nothing: there was none. Give me more."""

    outcome: bytes = b""


# -------------------------------------------------------------------------- to any process


class Die(Message, frozen=True):
    """End; stand still for some seconds first."""

    seconds: float = 0.0


class Foreign(Message, frozen=True):
    """You speak another protocol than I do: mine."""

    protocol: str


Any: TypeAlias = (
    Find
    | Found
    | Stand
    | Release
    | Granted
    | Read
    | Kept
    | Write
    | Forward
    | Join
    | Beat
    | Told
    | Exec
    | Printed
    | Kill
    | Ended
    | Transact
    | Get
    | GetRange
    | Commit
    | Values
    | Done
    | Refused
    | Perform
    | Agent
    | Given
    | Reported
    | Die
    | Foreign
)


class Envelope(msgspec.Struct, frozen=True):
    """A message, and the protocol that whoever sent it speaks."""

    protocol: str
    message: Any


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Envelope)


def encoded(message: Any, protocol: str) -> bytes:
    """Return a message as bytes."""
    return _ENCODER.encode(Envelope(protocol, message))


def decoded(raw: bytes) -> Envelope:
    """Read a message; raise ValueError for what is none."""
    try:
        return _DECODER.decode(raw)
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a message: {error}") from None
