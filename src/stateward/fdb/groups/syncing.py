"""Have the sidecar of a split pod copy what the config map says, and see that it did."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from stateward.core.version import Version
from stateward.fdb.admin.pod_agent import AgentRefused, PodAgent
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.build import config_map
from stateward.fdb.model import names
from stateward.fdb.model.versions import are_compatible

_CONF: Final = "fdbmonitor.conf"
#: The variable that says where programs are, and where those are that a sidecar brought.
_PROGRAMS: Final = "BINARY_DIR"
_COPY: Final = re.compile(r"/bin/(?P<version>[0-9]+\.[0-9]+\.[0-9]+[^/]*)$")
#: What else is copied, by the key of the config map that it is under.
_COPIED: Final = {names.CLUSTER_FILE_KEY: "fdb.cluster", names.CA_FILE_KEY: "ca.pem"}


async def synchronize(
    agent: PodAgent, data: Mapping[str, str], group: FoundationDBProcessGroupSpec
) -> list[str]:
    """Have files copied that differ from the config map; return those that still do.

    A node may take a minute to show a config map as it is, so that the sidecar copies the one of
    before.
    """
    values = await agent.substitutions()
    if (lacking := await _lacking(agent, data, values)) is not None:
        return [lacking]
    wanted = _wanted(data, group, values)
    if not (differing := await _differing(agent, wanted)):
        return []
    await agent.copy()
    return await _differing(agent, {it: wanted[it] for it in differing})


async def shows(agent: PodAgent, wanted: str) -> bool:
    """Have a sidecar show a certificate; tell whether it does: its node may not have it yet."""
    if await agent.certificate() == wanted:
        return True
    await agent.refresh()
    return await agent.certificate() == wanted


async def _lacking(
    agent: PodAgent, data: Mapping[str, str], values: Mapping[str, str]
) -> str | None:
    """Return the program that a pod shall start next and has not, or not yet; None: it has.

    A sidecar writes into files where programs of its own version are, so only that of the right
    version is asked to copy any.
    """
    found = _COPY.search(values.get(_PROGRAMS, ""))
    staged = data.get(names.STAGED_VERSION_KEY, "")
    if staged:
        program = f"bin/{staged}/fdbserver"
        is_there = found is not None and found["version"] == staged
        return None if is_there and await agent.is_present(program) else program
    running = data.get(names.RUNNING_VERSION_KEY, "")
    if found is None or not running or _are_compatible(found["version"], running):
        return None
    return f"{running} instead of {found['version']}"


def _are_compatible(one: str, other: str) -> bool:
    try:
        return are_compatible(Version.parse(one), Version.parse(other))
    except ValueError:
        return False


def _wanted(
    data: Mapping[str, str], group: FoundationDBProcessGroupSpec, values: Mapping[str, str]
) -> dict[str, str]:
    """Return the hashes that files shall have."""
    texts = {_COPIED[key]: data[key] for key in _COPIED if key in data}
    if (conf := config_map.conf_text(data, group)) is not None:
        texts[_CONF] = substituted(conf, values)
    return {name: hashlib.sha256(it.encode()).hexdigest() for name, it in texts.items()}


async def _differing(agent: PodAgent, wanted: Mapping[str, str]) -> list[str]:
    return [it for it in sorted(wanted) if await _hash_of(agent, it) != wanted[it]]


async def _hash_of(agent: PodAgent, file: str) -> str:
    """Return the hash of a file; empty: it was never copied."""
    try:
        return await agent.check_hash(file)
    except AgentRefused as error:
        if not error.is_missing:
            raise
        return ""


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Return a text with ``$NAME`` written as its value; of two names that fit, the longer counts.

    >>> substituted("$A-$AB-$C", {"A": "1", "AB": "2"})
    '1-2-$C'
    """
    if not values:
        return text
    known = "|".join(re.escape(it) for it in sorted(values, key=len, reverse=True))
    return re.sub(rf"\$({known})", lambda it: values[it[1]], text)
