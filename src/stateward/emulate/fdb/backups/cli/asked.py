"""What is asked of fdbbackup and fdbrestore by their command lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from stateward.emulate.fdb.backups import urls
from stateward.emulate.fdb.backups.state import INTERVAL, Span, after
from stateward.emulate.fdb.cli import words as cli_words
from stateward.emulate.fdb.programs import flags
from stateward.emulate.fdb.programs.flags import Known, Misunderstood, Told

BACKUP, RESTORE = "fdbbackup", "fdbrestore"
#: What each can be asked for; and for what nothing but files is needed.
ACTIONS: Final[Mapping[str, frozenset[str]]] = {
    BACKUP: frozenset(
        {
            *("start", "modify", "status", "abort", "wait", "discontinue", "pause", "resume"),
            *("expire", "delete", "describe", "list", "tags"),
        }
    ),
    RESTORE: frozenset({"start", "status", "abort", "wait"}),
}
OF_FILES: Final = frozenset({"expire", "delete", "describe", "list"})
#: What the real one has as well, and the stand-in does not.
_LACKING: Final = frozenset({"query", "dump", "cleanup"})
_SHARED: Final = (
    *("log_dir", "logdir", "log_group", "loggroup", "trace_format", "memory", "proxy"),
    *("blob_credentials", "encryption_key_file", "knob", "tls_certificate_file", "tls_key_file"),
    *("tls_ca_file", "tls_verify_peers", "tls_password"),
)
_BARE: Final = frozenset(
    {"w", "wait", "waitfordone", "n", "dryrun", "log", "q", "quiet", "debug_tls", "build_flags"}
)
_KNOWN: Final[Mapping[str, Known]] = {
    BACKUP: Known(
        valued={
            **{it: it for it in _SHARED},
            "C": "cluster_file",
            "cluster_file": "cluster_file",
            "m": "memory",
            "t": "tag",
            "tagname": "tag",
            "d": "url",
            "destcontainer": "url",
            "b": "url",
            "base_url": "url",
            "s": "interval",
            "snapshot_interval": "interval",
            "initial_snapshot_interval": "first_interval",
            "active_snapshot_interval": "active_interval",
            "verify_uid": "verify_uid",
            "mutation_log_type": "mutation_log_type",
            "e": "errors",
            "errorlimit": "errors",
            "expire_before_version": "before",
            "expire_before_timestamp": "before_time",
            "delete_before_days": "before_days",
            "min_restorable_days": "least_days",
            "restorable_after_version": "least",
            "restorable_after_timestamp": "least_time",
        },
        bare=_BARE
        | {"z", "no_stop_when_done", "json", "f", "force", "deep", "version_timestamps"}
        | {"partitioned_log_experimental"},
        open_ended=("knob_",),
    ),
    RESTORE: Known(
        valued={
            **{it: it for it in _SHARED},
            "dest_cluster_file": "cluster_file",
            "orig_cluster_file": "orig",
            "r": "url",
            "m": "memory",
            "t": "tag",
            "tagname": "tag",
            "v": "version",
            "version": "version",
            "timestamp": "time",
            "add_prefix": "add_prefix",
            "remove_prefix": "remove_prefix",
        },
        bare=_BARE | {"user_data", "system_metadata"},
        open_ended=("knob_",),
    ),
}
_RANGES: Final = ("-k", "--keys")
#: What is said where nobody says where to.
NO_URL: Final = "ERROR: No backup destination was specified."
#: With which code a destination is refused.
_REFUSED: Final = 10


#: What the tag is where all are told.
EVERY: Final = ""


class Said(msgspec.Struct, frozen=True):
    """How a command ended that no database was asked for."""

    code: int
    out: str = ""
    err: str = ""


class Refused(Exception):
    """A command line is refused: what is printed, and with which code it ends."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text, self.code = text, code


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One command; what is 0 or empty was not said."""

    program: str
    action: str
    tag: str = "default"
    url: str = ""
    #: By which one that begins is known, also where its answer is lost and it is asked again.
    uid: str = ""
    interval: int = 0
    first_interval: int = 0
    active_interval: int = 0
    goes_on: bool = False
    waits: bool = False
    is_dry: bool = False
    as_json: bool = False
    is_forced: bool = False
    verify_uid: str = ""
    errors: int = 10
    ranges: list[Span] = []
    #: Of a restore: to which version; none: the latest.
    version: int = -1
    add_prefix: bytes = b""
    remove_prefix: bytes = b""
    only_users: bool = False
    #: What goes with `expire`: before which version data is taken away, and from where on it shall
    #: still be possible to restore; as versions, as seconds, or as days before the last one.
    before: int = 0
    before_time: float = 0.0
    before_days: float = 0.0
    least: int = 0
    least_time: float = 0.0
    least_days: float = 0.0


def read(program: str, typed: Sequence[str], called: str, uid: str) -> tuple[Asked, Told]:
    """Read a command line; raise Refused in the words of the real program."""
    try:
        action, told, ranges = _told(program, typed)
        asked = _asked(program, action, told, ranges, uid)
    except Misunderstood as error:
        raise Refused(f"{error}\nTry `{called} --help' for more information.") from None
    except ValueError as error:
        raise Refused(f"ERROR: {error}") from None
    if program == BACKUP and action in OF_FILES | {"start"} and not asked.url:
        raise Refused(f"{NO_URL}\nTry `{called} --help' for more information.", _REFUSED)
    return asked, told


def check_url(asked: Asked, called: str, blobs: str) -> None:
    """Raise Refused for a destination that cannot be one."""
    try:
        urls.folder(asked.url, blobs)
    except urls.Invalid as error:
        text = f"ERROR: {error}\nTry `{called} --help' for more information."
        raise Refused(text, _REFUSED) from None


def _told(program: str, typed: Sequence[str]) -> tuple[str, Told, list[Span]]:
    """Return the action, the options, and the ranges, of which there may be many."""
    action, rest, ranges = "", list[str](), list[Span]()
    left = iter(typed)
    for word in left:
        if not action and not word.startswith("-"):
            action = word
        elif word in _RANGES:
            ranges.append(_span(next(left, "")))
        else:
            rest.append(word)
            known = _KNOWN[program].valued.get(flags.name_of(word))
            if known is not None and "=" not in word:
                rest += [it for it in (next(left, None),) if it is not None]
    if action in _LACKING:
        raise ValueError(f"EMULATED: the stand-in has no `{program} {action}'")
    if action not in ACTIONS[program]:
        raise Misunderstood(f"ERROR: unknown option `{action}'")
    try:
        return action, flags.read(rest, _KNOWN[program]), ranges
    except Misunderstood as error:
        raise Misunderstood(str(error).replace("option: ", "option ")) from None


def _asked(program: str, action: str, told: Told, ranges: list[Span], uid: str) -> Asked:
    values, bare = told.values, told.bare
    return Asked(
        program=program,
        action=action,
        tag=values.get("tag", EVERY if (program, action) == (RESTORE, "status") else "default"),
        url=values.get("url", ""),
        uid=uid,
        interval=_number(told, "interval"),
        first_interval=_number(told, "first_interval"),
        active_interval=_number(told, "active_interval"),
        goes_on=bool(bare & {"z", "no_stop_when_done"}),
        waits=bool(bare & {"w", "wait", "waitfordone"}),
        is_dry=bool(bare & {"n", "dryrun"}),
        as_json="json" in bare,
        is_forced=bool(bare & {"f", "force"}),
        verify_uid=values.get("verify_uid", ""),
        errors=_number(told, "errors", 10),
        ranges=ranges,
        version=_version(told),
        add_prefix=_key(values.get("add_prefix", "")),
        remove_prefix=_key(values.get("remove_prefix", "")),
        only_users="user_data" in bare,
        before=_number(told, "before"),
        before_time=_moment(told, "before_time"),
        before_days=float(_number(told, "before_days")),
        least=_number(told, "least"),
        least_time=_moment(told, "least_time"),
        least_days=float(_number(told, "least_days")),
    )


def _number(told: Told, name: str, default: int = 0) -> int:
    text = told.values.get(name, str(default))
    if not text.isdigit():
        raise ValueError(f"Could not parse {name} from {text}")
    return int(text)


def _version(told: Told) -> int:
    """Return the version that is asked for; a moment is one, too: versions are microseconds."""
    if moment := _moment(told, "time"):
        return int(moment * 1_000_000)
    return _number(told, "version") if "version" in told.values else -1


def _moment(told: Told, name: str) -> float:
    text = told.values.get(name, "")
    if not text:
        return 0.0
    try:
        return datetime.strptime(text, "%Y/%m/%d.%H:%M:%S%z").astimezone(UTC).timestamp()
    except ValueError:
        raise ValueError(f"a time must look like YYYY/MM/DD.HH:MM:SS+0000, got {text!r}") from None


def _span(text: str) -> Span:
    """Return a range: two keys, or all that begin with one.

    >>> _span("a b"), _span("k")
    ((b'a', b'b'), (b'k', b'l'))
    """
    try:
        parts = [it for command in cli_words.split(text) for it in command.words]
    except cli_words.Unterminated:
        parts = []
    if len(parts) not in (1, 2):
        raise ValueError(f"Invalid key range identifier specified: {text!r}")
    begin = parts[0].encode("latin-1")
    end = parts[1].encode("latin-1") if len(parts) > 1 else after(begin)
    if begin >= end:
        raise ValueError(f"Invalid key range identifier specified: {text!r}")
    return begin, end


def _key(text: str) -> bytes:
    """Return bytes as they are written on a command line, where some are written by numbers."""
    if not text:
        return b""
    return cli_words.split(f'"{text}"')[0].words[0].encode("latin-1")


def interval(asked: Asked) -> int:
    """Return the seconds between snapshots."""
    return asked.interval or INTERVAL
