"""The configuration of a unified image's monitor, config.json: one for all pods of a class."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from stateward.fdb.build.basis import Basis
from stateward.fdb.build.servers.arguments import (
    Argument,
    Env,
    Host,
    Number,
    Piece,
    Text,
    arguments,
)
from stateward.fdb.model.classes import ProcessClass
from stateward.kube.codec import Json


def config(basis: Basis, process_class: ProcessClass) -> str:
    """Return the text of a class; how many processes a pod has is told to its monitor elsewhere."""
    found: Json = {"version": basis.spec.version}
    if not basis.runs_servers:
        found["runServers"] = False
    said = arguments(basis, process_class, 1, "unified")
    found["arguments"] = [_argument(it) for it in said]
    return json.dumps(found, separators=(",", ":"))


def _argument(argument: Argument) -> Json:
    pieces = (Text(f"--{argument.name}="), *argument.pieces)
    parts = list(_joined(part for it in pieces for part in _parts(it)))
    return parts[0] if len(parts) == 1 else {"type": "Concatenate", "values": parts}


def _joined(parts: Iterator[Json]) -> Iterator[Json]:
    """Make one of texts that follow each other."""
    for is_text, some in groupby(parts, key=lambda it: "type" not in it):
        if is_text:
            yield {"value": "".join(it["value"] for it in some)}
        else:
            yield from some


def _parts(piece: Piece) -> Iterator[Json]:
    match piece:
        case Text(text):
            yield {"value": text}
        case Env(name):
            yield {"type": "Environment", "source": name}
        case Number(multiplier, offset):
            yield {"type": "ProcessNumber", "multiplier": multiplier, "offset": offset}
        case Host(variable, family):
            brackets = family == 6
            yield {"value": "[" if brackets else ""}
            yield {"type": "IPList", "source": variable, "ipFamily": family}
            yield {"value": "]" if brackets else ""}
