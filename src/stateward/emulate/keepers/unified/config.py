"""config.json of the unified image: what to run, with arguments made of pieces. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

import msgspec


class Unfit(ValueError):
    """A configuration cannot be used; the text says what must be true."""


class Argument(msgspec.Struct, frozen=True, rename="camel"):
    """One argument, or a piece of one."""

    type: str = "Literal"
    value: str = ""
    values: tuple[Argument, ...] = ()
    source: str = ""
    multiplier: int = 0
    offset: int = 0
    ip_family: int = 0


class Config(msgspec.Struct, frozen=True, rename="camel"):
    """What the processes of a pod are to be."""

    version: str = ""
    run_servers: bool | None = None
    arguments: tuple[Argument, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether there are to be processes at all; where nothing is said, there are."""
        return self.run_servers is not False


def read(raw: bytes) -> Config:
    """Return what a file says; raise Unfit when it is no configuration."""
    try:
        return msgspec.json.decode(raw, type=Config)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unfit(f"the configuration must be a JSON document of its kind: {error}") from error


def arguments(config: Config, number: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of the process with a number; raise Unfit when one cannot be made."""
    return tuple(text_of(it, number, environment) for it in config.arguments)


def text_of(argument: Argument, number: int, environment: Mapping[str, str]) -> str:
    """Return the text of an argument.

    >>> port = Argument(type="ProcessNumber", multiplier=2, offset=4499)
    >>> text_of(Argument(type="Concatenate", values=(Argument(value="--p="), port)), 1, {})
    '--p=4501'
    """
    match argument.type:
        case "" | "Literal":
            return argument.value
        case "Concatenate":
            return "".join(text_of(it, number, environment) for it in argument.values)
        case "ProcessNumber":
            return str(number * (argument.multiplier or 1) + argument.offset)
        case "Environment":
            return _variable(argument, environment)
        case "IPList":
            return _address(argument, environment)
        case unknown:
            raise Unfit(f"an argument must be of a known type, got {unknown}")


def variables(config: Config, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the arguments are made of, with their values."""
    names = {name for it in config.arguments for name in _sources(it)}
    return {name: environment.get(name, "") for name in sorted(names)}


def cluster_file(words: tuple[str, ...]) -> str:
    """Return the cluster file that arguments name, or nothing.

    >>> cluster_file(("--class=log", "--cluster_file=/data/fdb.cluster"))
    '/data/fdb.cluster'
    """
    for word, following in zip(words, (*words[1:], ""), strict=False):
        name, equals, value = word.partition("=")
        if name.replace("_", "-") in {"--cluster-file", "-C"}:
            return value if equals else following
    return ""


def _sources(argument: Argument) -> Iterator[str]:
    if argument.source:
        yield argument.source
    for it in argument.values:
        yield from _sources(it)


def _variable(argument: Argument, environment: Mapping[str, str]) -> str:
    try:
        return environment[argument.source]
    except KeyError:
        raise Unfit(f"the environment must have the variable {argument.source}") from None


def _address(argument: Argument, environment: Mapping[str, str]) -> str:
    """Return the first address of the family that is wanted; what is no address is passed over."""
    if argument.ip_family not in {4, 6}:
        raise Unfit(f"the family of an address must be 4 or 6, got {argument.ip_family}")
    text = _variable(argument, environment)
    for word in map(str.strip, text.split(",")):
        try:
            if ipaddress.ip_address(word).version == argument.ip_family:
                return word
        except ValueError:
            continue
    raise Unfit(
        f"{argument.source} must have an address of family {argument.ip_family}, got {text!r}"
    )
