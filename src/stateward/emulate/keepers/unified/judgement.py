"""Whether a new configuration may replace the one in force. Pure.

A refused one changes nothing: processes go on as they are, and would be started again as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from stateward.core.version import Version
from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified.config import Config, Unfit
from stateward.fdb.model.versions import are_compatible


@dataclass(frozen=True, slots=True)
class House:
    """What a launcher has: its version, its fdbserver, and where its sidecar puts others."""

    version: str
    own: str
    shared: str
    processes: int
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A configuration in force, as it was written and as it was understood."""

    raw: str
    config: Config
    #: The program, as the container calls it.
    program: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What must be true, and is not."""

    why: str


Judgement: TypeAlias = Accepted | Refused


def judge(raw: bytes, house: House, is_program: Callable[[str], bool]) -> Judgement:
    """Judge a file; ``is_program`` tells whether something that can be run is at a path."""
    try:
        config = configs.read(raw)
        program = program_for(config.version, house)
        for number in range(1, house.processes + 1):
            configs.arguments(config, number, house.environment)
        text = raw.decode()
    except Unfit as error:
        return Refused(str(error))
    if not is_program(program):
        return Refused(f"{program} must be a program that can be run")
    return Accepted(text, config, program)


def program_for(version: str, house: House) -> str:
    """Return which fdbserver runs a version: our own as long as it speaks the same protocol.

    >>> house = House("7.3.79", "/usr/bin/fdbserver", "/shared/bin", 1, {})
    >>> program_for("7.3.27", house), program_for("7.4.1", house)
    ('/usr/bin/fdbserver', '/shared/bin/7.4.1/fdbserver')
    """
    try:
        wanted, ours = Version.parse(version), Version.parse(house.version)
    except ValueError as error:
        raise Unfit(str(error)) from error
    if are_compatible(wanted, ours):
        return house.own
    return str(PurePosixPath(house.shared, version, "fdbserver"))


def environment_of(accepted: Accepted, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what is told about the environment: the variables in use, and where the program is."""
    directory = str(PurePosixPath(accepted.program).parent)
    return {**configs.variables(accepted.config, environment), "BINARY_DIR": directory}
