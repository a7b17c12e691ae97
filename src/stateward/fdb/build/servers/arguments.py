"""What fdbserver is told, once, as arguments made of pieces; how they are written is for others.

A piece that differs between the pods or the processes of a class is named, not filled in: the
monitor of a pod does that. So one text serves all pods of a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, TypeAlias

from stateward.fdb.api import questions
from stateward.fdb.api.processes import ImageType
from stateward.fdb.build.basis import Basis
from stateward.fdb.model.classes import ProcessClass

#: Folders of the main container.
DATA: Final = "/var/fdb/data"
CONF: Final = "/var/dynamic-conf"
LOGS: Final = "/var/log/fdb-trace-logs"
#: The port of process k is twice k more than this.
TLS_OFFSET: Final = 4498
PLAIN_OFFSET: Final = 4499

#: Variables that tell pods of one class apart.
PUBLIC_IP: Final = "FDB_PUBLIC_IP"
POD_IP: Final = "FDB_POD_IP"
INSTANCE_ID: Final = "FDB_INSTANCE_ID"
MACHINE_ID: Final = "FDB_MACHINE_ID"
ZONE_ID: Final = "FDB_ZONE_ID"
DNS_NAME: Final = "FDB_DNS_NAME"

_VARIABLE: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Text:
    """The same for all."""

    text: str


@dataclass(frozen=True, slots=True)
class Env:
    """The value of a variable of the pod."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a process in its pod, from 1, times something and more."""

    multiplier: int = 1
    offset: int = 0

    def of(self, process: int) -> int:
        """Return what it is for a process."""
        return process * self.multiplier + self.offset


@dataclass(frozen=True, slots=True)
class Host:
    """The first address of a family (4 or 6) in a variable, as it stands before a port."""

    variable: str
    family: int


Piece: TypeAlias = Text | Env | Number | Host


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name without dashes, and what follows."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def variables(self) -> Iterator[str]:
        """The variables that it is made of."""
        for it in self.pieces:
            if isinstance(it, Env):
                yield it.name
            elif isinstance(it, Host):
                yield it.variable


def arguments(
    basis: Basis, process_class: ProcessClass, servers: int, image_type: ImageType
) -> tuple[Argument, ...]:
    """Return all arguments of the processes of a class; what users say takes the place of ours."""
    said = questions.settings_for(basis.spec, process_class).custom_parameters or ()
    custom = tuple(map(_custom, said))
    taken = {_plain(it.name) for it in custom}
    numbered = image_type == "unified" or servers > 1
    before = (*_of_process(basis, process_class, numbered=numbered), *_of_surroundings(basis))
    return (
        *(it for it in before if it.name not in taken),
        *custom,
        *(it for it in _localities(basis) if it.name not in taken),
    )


def host_in(text: str, family: int) -> str | None:
    """Return the first address of a family in a list with commas; what is none is passed over.

    >>> host_in("10.0.0.1,fd00::1", 6)
    'fd00::1'
    """
    for word in map(str.strip, text.split(",")):
        with suppress(ValueError):
            if ip_address(word).version == family:
                return word
    return None


def variables(some: Iterable[Argument]) -> tuple[str, ...]:
    """Return every variable that arguments are made of, once, in their order."""
    return tuple(dict.fromkeys(name for it in some for name in it.variables))


# ------------------------------------------------------------------ ours
def _of_process(basis: Basis, process_class: ProcessClass, *, numbered: bool) -> Iterator[Argument]:
    yield _words("cluster_file", f"{DATA}/fdb.cluster")
    yield _words("seed_cluster_file", f"{CONF}/fdb.cluster")
    yield _addresses("public_address", basis, PUBLIC_IP)
    yield _words("class", process_class)
    yield _words("logdir", LOGS)
    yield _words("loggroup", basis.log_group)
    if numbered:
        yield Argument("datadir", (Text(f"{DATA}/"), Number()))
        yield Argument("locality_process_id", (Env(INSTANCE_ID), Text("-"), Number()))
    else:
        yield _words("datadir", DATA)


def _of_surroundings(basis: Basis) -> Iterator[Argument]:
    zone = questions.zone_of(basis.spec)
    named = zone.name if isinstance(zone, questions.Variable) else ZONE_ID
    yield Argument("locality_instance_id", (Env(INSTANCE_ID),))
    yield Argument("locality_machineid", (Env(MACHINE_ID),))
    yield Argument("locality_zoneid", (Env(named),))
    yield _addresses("listen_address", basis, POD_IP)
    if rules := basis.spec.main_container.peer_verification_rules:
        yield _words("tls_verify_peers", rules)


def _localities(basis: Basis) -> Iterator[Argument]:
    spec = basis.spec
    if spec.data_center:
        yield _words("locality_dcid", spec.data_center)
    if spec.data_hall:
        yield _words("locality_data_hall", spec.data_hall)
    if spec.routing.define_dns_locality_fields:
        yield Argument("locality_dns_name", (Env(DNS_NAME),))


def _words(name: str, text: str) -> Argument:
    return Argument(name, (Text(str(text)),))


def _addresses(name: str, basis: Basis, variable: str) -> Argument:
    """The one with TLS stands first: it is the one that a process is known by."""
    family = basis.spec.routing.pod_ip_family
    host: Piece = Env(variable) if family is None else Host(variable, family)
    pieces: list[Piece] = []
    if basis.tls:
        pieces += [host, Text(":"), Number(2, TLS_OFFSET), Text(":tls")]
    if basis.plain:
        comma = (Text(","),) if pieces else ()
        pieces += [*comma, host, Text(":"), Number(2, PLAIN_OFFSET)]
    return Argument(name, tuple(pieces))


# ------------------------------------------------------------------ the user's
def _custom(said: str) -> Argument:
    """Read ``name=value``, where ``$NAME`` in the value is a variable."""
    name, _, value = said.partition("=")
    pieces: list[Piece] = []
    for place, part in enumerate(_VARIABLE.split(value.strip())):
        if place % 2:  # what the pattern found stands between what it did not
            pieces.append(Env(part))
        elif part:
            pieces.append(Text(part))
    return Argument(name.strip(), tuple(pieces))


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
