"""The words of ``configure``, as fdbcli reads them: what they ask for, or that it is nothing.

fdbcli says "Usage" for a word that it does not know, for two words of one kind, and for a new
database without its redundancy and engine; it never says which word it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stateward.fdb.model.addresses import Address

REDUNDANCIES: Final = (
    "single",
    "double",
    "triple",
    "three_data_hall",
    "three_data_hall_fallback",
    "three_datacenter",
    "three_datacenter_fallback",
)
_SHORT_ENGINES: Final = {"ssd": "ssd-2", "memory": "memory-2"}
ENGINES: Final = (
    "ssd-1",
    "ssd-2",
    "ssd-redwood-1",
    "ssd-rocksdb-v1",
    "ssd-sharded-rocksdb",
    "memory-1",
    "memory-2",
    "memory-radixtree-beta",
)
#: Counts that must be numbers; below 1 they make a configuration invalid, but for those of -1.
COUNTS: Final = (
    "logs",
    "commit_proxies",
    "grv_proxies",
    "resolvers",
    "remote_logs",
    "log_routers",
    "usable_regions",
    "repopulate_anti_quorum",
    "count",
)
_NUMBER: Final = re.compile(r"-?[0-9]+")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "storage_migration_type": ("disabled", "aggressive", "gradual"),
    "tenant_mode": ("disabled", "optional_experimental", "required_experimental"),
    "encryption_at_rest_mode": ("disabled", "domain_aware", "cluster_aware"),
    "blob_granules_enabled": ("0", "1"),
}
_FEW_PROXIES: Final = 2
_SPLIT: Final = (
    "Warning: Proxy role is being split into GRV Proxy and Commit Proxy, now prefer configuring"
    " 'grv_proxies' and 'commit_proxies' separately. Generally we should follow that"
    " 'commit_proxies' is three times of 'grv_proxies' count and 'grv_proxies' should be not more"
    " than 4."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for, and what fdbcli says before it does it."""

    new: bool = False
    force: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Misunderstood(Exception):
    """Nothing that can be asked for; the notes are said before the usage."""

    def __init__(self, *notes: str) -> None:
        super().__init__(*notes)
        self.notes = notes


def read(tokens: Sequence[str]) -> Asked:
    """Read the words after ``configure``; raise Misunderstood."""
    rest = list(tokens)
    force = bool(rest) and rest[0] == "FORCE"
    del rest[: int(force)]
    new = bool(rest) and rest[0] == "new"
    del rest[: int(new)]
    notes: list[str] = []
    values: dict[str, Any] = {}
    for token in rest:
        for name, value in _meant(token, notes):
            if name in values:
                raise Misunderstood(*notes)
            values[name] = value
    if not values or (new and not {"redundancy_mode", "storage_engine"} <= values.keys()):
        raise Misunderstood(*notes)
    return Asked(new, force, values, tuple(notes))


def of_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that a document names as a status does; raise Misunderstood."""
    values: dict[str, Any] = {}
    for name, it in document.items():
        word = f"{name}={json.dumps(it)}" if isinstance(it, list) else f"{name}={it}"
        is_bare = name == "redundancy_mode"
        values |= dict(_meant(str(it) if is_bare else word, []))
    if "storage_engine" in values:
        values.setdefault("log_engine", values["storage_engine"])
    return values


def _meant(token: str, notes: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the settings that one word means."""
    name, equals, value = token.partition("=")
    if not equals:
        yield from _bare(token, notes)
    elif name.endswith(":"):
        yield name[:-1], value  # unchecked, by whoever knows what it does
    elif name == "proxies":
        yield from _proxies(value, notes)
    elif name in _READERS:
        yield name, _READERS[name](name, value, notes)
    elif name in COUNTS and _NUMBER.fullmatch(value):
        yield name, int(value)
    else:
        raise Misunderstood(*notes)


def _bare(token: str, notes: Sequence[str]) -> Iterator[tuple[str, Any]]:
    engine = _SHORT_ENGINES.get(token, token)
    if token in REDUNDANCIES:
        yield "redundancy_mode", token
    elif engine in ENGINES:
        yield "storage_engine", engine
        yield "log_engine", engine
    elif token == "locked":  # noqa: S105 - a word of configure
        yield "locked", True
    else:
        raise Misunderstood(*notes)


def _regions(_name: str, value: str, _notes: Sequence[str]) -> list[Any]:
    """Return what is left of regions: quotes that were not escaped are gone by now.

    The real one stores an empty region then, and calls it a success.
    """
    try:
        found = json.loads(value)
    except ValueError:
        return [{}]
    return found if isinstance(found, list) else [{}]


def _proxies(value: str, notes: list[str]) -> Iterator[tuple[str, Any]]:
    if not _NUMBER.fullmatch(value):
        raise Misunderstood(*notes)
    notes.append(_SPLIT)
    many = int(value)
    if many < _FEW_PROXIES:
        notes.append("Error: At least 2 proxies (1 GRV proxy and 1 Commit proxy) are required.")
        raise Misunderstood(*notes)
    grv = max(1, min(4, many // 4))
    notes.append(
        f"{many} proxies are automatically converted into {grv} GRV proxies and {many - grv}"
        " Commit proxies."
    )
    yield "grv_proxies", grv
    yield "commit_proxies", many - grv


def _engine(name: str, value: str, notes: Sequence[str]) -> str:
    engine = _SHORT_ENGINES.get(value, value)
    none = name == "perpetual_storage_wiggle_engine" and value == "none"
    if engine not in ENGINES and not none:
        raise Misunderstood(
            *notes,
            f"Error: Invalid value for {name} ({value}): Storage engine type is not recognized.",
        )
    return engine


def _wiggle(_name: str, value: str, notes: Sequence[str]) -> int:
    if value not in ("0", "1"):
        raise Misunderstood(
            *notes,
            "Error: Only 0 and 1 are valid values of perpetual_storage_wiggle at present.",
        )
    return int(value)


def _addresses(_name: str, value: str, notes: Sequence[str]) -> list[str]:
    for it in value.split(","):
        try:
            Address.parse(it)
        except ValueError:
            raise Misunderstood(*notes, f"Error: invalid address format: {it}") from None
    return value.split(",")


def _choice(name: str, value: str, notes: Sequence[str]) -> str:
    choices = _CHOICES.get(name)
    if choices is not None and value not in choices:
        words = "|".join(choices)
        raise Misunderstood(*notes, f"Error: Only {words} are valid for {name}.")
    return value


_READERS: Final[Mapping[str, Callable[[str, str, Sequence[str]], Any]]] = {
    "regions": _regions,
    "perpetual_storage_wiggle": _wiggle,
    "exclude": _addresses,
    **dict.fromkeys(("storage_engine", "log_engine", "perpetual_storage_wiggle_engine"), _engine),
    **dict.fromkeys((*_CHOICES, "perpetual_storage_wiggle_locality"), _choice),
}
