"""Logs: one structured line per event, tied to the pass that wrote it, without secrets.

Importing this module changes nothing. A program calls :func:`configure` once, before it makes its
parts; calling it again replaces what was configured before. Lines of libraries that use ``logging``
are taken in from WARNING upwards, so that a log collector sees one format only. A stream that can
no longer be written to is ignored: logs inform, and must never end a pass.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from json import dumps
from typing import Any, TextIO, cast

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor

from stateward.core.clock import Clock
from stateward.core.errors import UsageError
from stateward.core.moments import to_rfc3339_micro
from stateward.kube.meta import ObjectKey

#: What is shown in place of a secret.
MASK = "***"

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}


def configure(stream: TextIO, *, json: bool, level: str, clock: Clock) -> None:
    """Write logs to ``stream`` from now on: JSON lines for machines, or a console for people."""
    if level.lower() not in LEVELS:
        raise UsageError(f"log level must be one of {', '.join(LEVELS)}, got {level!r}")
    processors: list[Processor] = [
        _say_which_pass,
        structlog.processors.add_log_level,
        _say_who,
        structlog.processors.format_exc_info,
        _scrub,
    ]
    structlog.configure(
        processors=processors + (_for_machines(clock) if json else _for_people(clock, stream)),
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level.lower()]),
        context_class=dict,
        logger_factory=lambda *name: _Lines(stream, *name),
        # Loggers live as long as their modules, and must see the next configuration.
        cache_logger_on_first_use=False,
    )
    _remove_bridge()
    logging.getLogger().addHandler(_Bridge(logging.WARNING))


def reset() -> None:
    """Undo :func:`configure`; for programs that embed us, and for tests."""
    structlog.reset_defaults()
    _remove_bridge()


def get(name: str) -> FilteringBoundLogger:
    """Return a logger whose lines say where they come from."""
    return cast("FilteringBoundLogger", structlog.get_logger(name))


def bind_pass(controller: str, key: ObjectKey, pass_id: str) -> AbstractContextManager[None]:
    """Let every line written inside say which cluster, controller and pass it belongs to.

    Tasks started inside carry the same, and passes that run side by side do not mix.
    """
    return structlog.contextvars.bound_contextvars(
        cluster=str(key), controller=controller, pass_id=pass_id
    )


def scrubbed(value: Any) -> Any:
    """Return the value as plain JSON values with every secret masked.

    >>> scrubbed({"url": "https://x", "headers": {"Authorization": "Bearer abc"}})
    {'url': 'https://x', 'headers': {'Authorization': '***'}}
    >>> scrubbed("sent with Bearer eyJhbGciOi")
    'sent with Bearer ***'
    """
    return _plain(value, depth=0)


# ---------------------------------------------------------------- secrets

#: Last words of names whose values are secret.
_SECRET_WORDS = frozenset(
    (
        "token",
        "password",
        "passwd",
        "passphrase",
        "secret",
        "authorization",
        "cookie",
        "credential",
        "bearer",
    )
)
#: Names that are secret as a whole or as an ending, without their separators. "key" alone is none
#: of them: here it is where an object is found.
_SECRET_ENDINGS = (
    *("keydata", "privatekey", "secretkey", "accesskey", "apikey"),
    *("tlskey", "clientkey", "serverkey", "peerkey", "cakey"),
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_SECRETS_IN_TEXT = re.compile(
    r"""
      (?P<kept>
          \bbearer\s+
        | authorization:\s*(?:\w+\s+)?
        | ://[^/\s:@]*:(?=[^/\s@]+@)
        | (?:token|passw(?:or)?d|passphrase|secret|authorization|client-key-data)
          (?:=|["']\s*:\s*)["']?
      )[^\s"',;&}@]+
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \b(?-i:LS0tLS1CRUdJTi)[\w+/=]*      # a PEM block, once more in base64, as kubeconfigs have it
    | \b(?-i:eyJ)[\w-]+\.[\w-]+\.[\w-]*   # a JSON web token
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

#: Deeper than this nobody reads a log line, and a value might contain itself.
_MAX_DEPTH = 8


def _plain(value: Any, depth: int) -> Any:
    match value:
        case None | bool():
            return value
        case int():
            return value if -(2**63) <= value < 2**64 else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return _plain_text(value)
        case bytes() | bytearray():
            return _plain_text(value.decode("utf-8", "backslashreplace"))
        case Mapping() if depth < _MAX_DEPTH:
            return _plain_mapping(value, depth + 1)
        case list() | tuple() | set() | frozenset() if depth < _MAX_DEPTH:
            return [_plain(item, depth + 1) for item in value]
        case _:
            return _plain_text(_shown(value))


def _plain_text(text: str) -> str:
    # Half a surrogate pair, as odd file names bring along, could not be written anywhere.
    sound = text.encode("utf-8", "backslashreplace").decode()
    return _SECRETS_IN_TEXT.sub(_masked, sound)


def _masked(found: re.Match[str]) -> str:
    return f"{found['kept'] or ''}{MASK}"


def _plain_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    is_secret = value.get("kind") == "Secret"
    return {
        str(name): _hidden(item)
        if _names_a_secret(str(name)) or (is_secret and name in {"data", "stringData"})
        else _plain(item, depth)
        for name, item in value.items()
    }


def _hidden(value: Any) -> Any:
    # Whether there is a secret at all is worth knowing, and no secret.
    return value if value is None or value is False or value is True or value == "" else MASK


def _names_a_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words:
        return False
    return words[-1].removesuffix("s") in _SECRET_WORDS or "".join(words).endswith(_SECRET_ENDINGS)


def _shown(value: Any) -> str:
    try:
        return (
            f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value)
        )
    except Exception:  # noqa: BLE001 - a value that cannot be shown must not end who logs it
        return f"<{type(value).__name__}>"


# ---------------------------------------------------------------- lines


def _say_which_pass(_logger: Any, _method: str, event: EventDict) -> EventDict:
    # Sorted: its own order differs between processes, and a seed must always give the same text.
    for name, value in sorted(structlog.contextvars.get_contextvars().items()):
        event.setdefault(name, value)
    return event


def _say_who(logger: _Lines, _method: str, event: EventDict) -> EventDict:
    if logger.name:
        event.setdefault("logger", logger.name)
    return event


def _scrub(_logger: Any, _method: str, event: EventDict) -> EventDict:
    return cast("EventDict", scrubbed(event))


def _for_machines(clock: Clock) -> list[Processor]:
    def render(_logger: Any, _method: str, event: EventDict) -> str:
        first = {"time": to_rfc3339_micro(clock.now()), "level": event.pop("level", "")}
        line = {**first, "event": event.pop("event", ""), **event, **first}
        # ASCII: nothing in a value can break the line or the stream's encoding.
        return dumps(line, ensure_ascii=True)

    return [render]


def _for_people(clock: Clock, stream: TextIO) -> list[Processor]:
    def stamp(_logger: Any, _method: str, event: EventDict) -> EventDict:
        event["timestamp"] = to_rfc3339_micro(clock.now())[11:23]
        return event

    return [
        stamp,
        structlog.dev.ConsoleRenderer(
            colors=stream.isatty(),
            # The pretty formatter would print local variables, and secrets with them.
            exception_formatter=structlog.dev.plain_traceback,
            sort_keys=False,
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Lines:
    """What structlog calls with a finished line, by whatever method the event was logged."""

    stream: TextIO
    name: str = ""

    def msg(self, line: str) -> None:
        try:
            self.stream.write(f"{line}\n")
            self.stream.flush()
        except (
            OSError,
            ValueError,
        ):  # the reader is gone, the stream closed, or its encoding too narrow
            return

    debug = info = warning = error = critical = exception = log = msg
    warn = err = fatal = failure = msg


class _Bridge(logging.Handler):
    """Takes in what libraries write through ``logging``."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record as one of our lines."""
        # structlog knows the five usual levels only.
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        try:
            get(record.name).log(level, "%s", record.getMessage(), exc_info=record.exc_info)
        except Exception:  # noqa: BLE001 - a malformed record must not end the caller
            self.handleError(record)


def _remove_bridge() -> None:
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, _Bridge)]:
        root.removeHandler(handler)
