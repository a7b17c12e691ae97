"""Have the sidecar of a split pod copy what the config map says, and see that it did."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from stateward.fdb.admin.pod_agent import AgentRefused, PodAgent
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.build import config_map
from stateward.fdb.model import names

_CONF: Final = "fdbmonitor.conf"
#: What else is copied, by the key of the config map that it is under.
_COPIED: Final = {names.CLUSTER_FILE_KEY: "fdb.cluster", names.CA_FILE_KEY: "ca.pem"}


async def synchronize(
    agent: PodAgent, data: Mapping[str, str], group: FoundationDBProcessGroupSpec
) -> list[str]:
    """Have files copied that differ from the config map; return those that still do.

    A node may take a minute to show a config map as it is, so that the sidecar copies the one of
    before.
    """
    wanted = await _wanted(agent, data, group)
    if not (differing := await _differing(agent, wanted)):
        return []
    await agent.copy()
    return await _differing(agent, {it: wanted[it] for it in differing})


async def _wanted(
    agent: PodAgent, data: Mapping[str, str], group: FoundationDBProcessGroupSpec
) -> dict[str, str]:
    """Return the hashes that files shall have."""
    texts = {_COPIED[key]: data[key] for key in _COPIED if key in data}
    if (conf := config_map.conf_text(data, group)) is not None:
        texts[_CONF] = substituted(conf, await agent.substitutions())
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
