"""How processes should have been started, and whether one was: compared with what it tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from stateward.fdb.api.processes import ImageType
from stateward.fdb.build.servers.arguments import host_in

_VARIABLE: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_SECTION: Final = re.compile(r"\[fdbserver\.[0-9]+\]")
_FLAG: Final = "flag_"


class Untold(ValueError):
    """Arguments cannot be known yet: the pod does not tell a variable, or the text is not ours."""


class _Piece(msgspec.Struct, frozen=True, rename="camel"):
    type: str = "Literal"
    value: str = ""
    values: tuple[_Piece, ...] = ()
    source: str = ""
    multiplier: int = 0
    offset: int = 0
    ip_family: int = 0


class _Config(msgspec.Struct, frozen=True, rename="camel"):
    run_servers: bool = True
    arguments: tuple[_Piece, ...] = ()


def expected(
    conf: str, image_type: ImageType, servers: int, environment: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """Return the arguments of each process of a pod, without its program; none: none shall run.

    Raise Untold when a variable has no value: then nobody can say how they should be.
    """
    if image_type == "unified":
        return _by_launcher(conf, servers, environment)
    return tuple(_by_monitor(conf, environment))


def same(expected: tuple[str, ...], told: str) -> bool:
    """Tell whether a process that tells its command line has these arguments, in any order.

    >>> same(("--class=log", "--datadir=/d"), "/usr/bin/fdbserver --datadir /d --class=log")
    True
    """
    line = " ".join(expected)
    if told.partition(" ")[2] == line:  # as nearly always, and then the rest need not be read
        return True
    return sorted(_options(f" {line}")) == sorted(_options(told))


def _options(line: str) -> Iterator[tuple[str, str]]:
    """Yield what follows the program, each name with its value, however they are joined."""
    for it in re.split(r"\s+(?=--)", line)[1:]:
        name, _, value = it.partition("=") if _joined(it) else it.partition(" ")
        yield name.strip(), value.strip()


def _joined(option: str) -> bool:
    return "=" in option.partition(" ")[0]


# ------------------------------------------------------------------ unified images
def _by_launcher(
    conf: str, servers: int, environment: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    try:
        config = msgspec.json.decode(conf, type=_Config)
    except msgspec.MsgspecError as error:
        raise Untold(f"a configuration must be a JSON document of its kind: {error}") from error
    if not config.run_servers:
        return ()
    numbers = range(1, servers + 1)
    return tuple(
        tuple(_text(it, number, environment) for it in config.arguments) for number in numbers
    )


def _text(piece: _Piece, number: int, environment: Mapping[str, str]) -> str:
    match piece.type:
        case "Concatenate":
            return "".join(_text(it, number, environment) for it in piece.values)
        case "ProcessNumber":
            return str(number * (piece.multiplier or 1) + piece.offset)
        case "Environment":
            return _variable(environment, piece.source)
        case "IPList":
            return _address(_variable(environment, piece.source), piece.ip_family)
        case _:
            return piece.value


def _variable(environment: Mapping[str, str], name: str) -> str:
    if name not in environment:
        raise Untold(f"the pod must tell the variable {name}")
    return environment[name]


def _address(text: str, family: int) -> str:
    host = host_in(text, family)
    if host is not None:
        return host
    raise Untold(f"the pod must have an address of IPv{family}, got {text!r}")


# ------------------------------------------------------------------ split images
def _by_monitor(conf: str, environment: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each section as fdbmonitor makes them: sorted by name, two for each."""

    def filled_in(text: str) -> str:
        return _VARIABLE.sub(lambda it: _variable(environment, it[1]), text)

    for section in _sections(conf):
        names = sorted(section, key=str.lower)
        yield tuple(word for it in names for word in _words(it, section[it], filled_in))


def _sections(conf: str) -> Iterator[dict[str, str]]:
    here: dict[str, str] | None = None
    for line in conf.splitlines():
        if line.startswith("["):
            if here is not None:
                yield here
            here = {} if _SECTION.fullmatch(line) else None
        name, equals, value = line.partition("=")
        if here is not None and equals and name.strip() != "command":
            here[name.strip()] = value.strip()
    if here is not None:
        yield here


def _words(name: str, value: str, filled_in: Callable[[str], str]) -> tuple[str, ...]:
    if name.lower().replace("-", "_").startswith(_FLAG):
        return (f"--{name[len(_FLAG) :]}",) if value == "true" else ()
    return (f"--{name}", filled_in(value))
