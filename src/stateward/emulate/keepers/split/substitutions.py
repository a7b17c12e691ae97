"""Variables in a configuration file of fdbmonitor, and what is written for them. Pure.

The longest name wins, and what was written is not looked at again: a value may have a dollar in it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stateward.core.errors import UsageError

#: The variables that every container has; one that is not given is empty.
KNOWN = ("FDB_PUBLIC_IP", "FDB_MACHINE_ID", "FDB_ZONE_ID", "FDB_INSTANCE_ID", "FDB_POD_IP")
PROGRAMS = "BINARY_DIR"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What decides about the values."""

    version: str
    main_version: str
    #: Where the main container finds what the sidecar writes.
    main_folder: str
    extra: Sequence[str] = ()
    family: int | None = None


def substitutions(environment: Mapping[str, str], wishes: Wishes) -> dict[str, str]:
    """Return every variable with its value; raise UsageError when one must be given and is not."""
    values = {name: environment.get(name, "") for name in KNOWN}
    values["FDB_MACHINE_ID"] = values["FDB_MACHINE_ID"] or environment.get("HOSTNAME", "")
    values["FDB_ZONE_ID"] = values["FDB_ZONE_ID"] or values["FDB_MACHINE_ID"]
    values["FDB_PUBLIC_IP"] = values["FDB_PUBLIC_IP"] or values["FDB_POD_IP"]
    values[PROGRAMS] = binary_folder(wishes)
    for name in wishes.extra:
        if name not in environment:
            raise UsageError(f"--substitute-variable {name} must be in the environment")
        values[name] = environment[name]
    if wishes.family is not None:
        for name in ("FDB_PUBLIC_IP", "FDB_POD_IP"):
            values[name] = of_family(values[name], wishes.family)
    return values


def binary_folder(wishes: Wishes) -> str:
    """Return where the main container finds programs of our version: its own, or copies of ours.

    >>> binary_folder(Wishes("7.3.79", "7.3.79", "/var/dynamic-conf"))
    '/usr/bin'
    >>> binary_folder(Wishes("7.4.1", "7.3.79", "/var/dynamic-conf"))
    '/var/dynamic-conf/bin/7.4.1'
    """
    if wishes.version == wishes.main_version:
        return "/usr/bin"
    return f"{wishes.main_folder}/bin/{wishes.version}"


def of_family(text: str, family: int) -> str:
    """Return the first address of a family in a list, one of IPv6 in brackets.

    >>> of_family("10.0.0.1,fd00::1", 6), of_family("10.0.0.1,fd00::1", 4), of_family("", 4)
    ('[fd00::1]', '10.0.0.1', '')
    """
    if not text:
        return text
    for word in map(str.strip, text.split(",")):
        try:
            found = ipaddress.ip_address(word)
        except ValueError:
            continue
        if found.version == family:
            return f"[{word}]" if family == 6 else word
    raise UsageError(f"there must be an address of IPv{family} in {text!r}")


def substituted(text: str, values: Mapping[str, str]) -> str:
    """Return a text with ``$NAME`` written as its value, for every name that is known.

    >>> substituted("$A-$AB-$C", {"A": "$AB", "AB": "2"})
    '$AB-2-$C'
    """
    names = sorted(values, key=len, reverse=True)
    if not names:
        return text
    pattern = re.compile(r"\$(" + "|".join(map(re.escape, names)) + ")")
    return pattern.sub(lambda found: values[found[1]], text)
