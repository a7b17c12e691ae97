"""Names that Kubernetes accepts, and hashes that mean the same tomorrow and in another process.

The checks return a sentence that says what must be true, or None when the name is fine: whoever
asks knows the field and puts it in front.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253
#: Forty bits: among a thousand names, the chance that two share a hash is below one in a million.
SHORT_HASH_LENGTH = 10

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_DNS_LABEL.pattern}(\.{_DNS_LABEL.pattern})*")
#: As schemas say it: a subdomain or nothing, roughly, since rules of a schema may not cost much.
OPTIONAL_NAME: Final = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"
_LABEL_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def dns_label_problem(name: str) -> str | None:
    """Say what is wrong with a name that must be one part of a DNS name, such as a service's.

    >>> dns_label_problem("shop-0")
    >>> dns_label_problem("Shop")
    "must be of a-z, 0-9 and '-', with a letter or digit at both ends, got 'Shop'"
    """
    if _DNS_LABEL.fullmatch(name) is None:
        return f"must be of a-z, 0-9 and '-', with a letter or digit at both ends, got {name!r}"
    return _length_problem(name, LABEL_LIMIT)


def dns_subdomain_problem(name: str) -> str | None:
    """Say what is wrong with a name that must be DNS parts joined by dots, as most object names."""
    if _SUBDOMAIN.fullmatch(name) is None:
        return (
            "must be of a-z, 0-9, '-' and '.', with a letter or digit"
            f" at both ends of each dotted part, got {name!r}"
        )
    return _length_problem(name, SUBDOMAIN_LIMIT)


@lru_cache(maxsize=1024)
def label_value_problem(value: str) -> str | None:
    """Say what is wrong with the value of a label; an empty one is fine."""
    return _label_word_problem(value) if value else None


@lru_cache(maxsize=1024)  # the same few are looked at in every write and every selector
def label_key_problem(key: str) -> str | None:
    """Say what is wrong with the key of a label or annotation: a name, perhaps after a ``domain/``.

    >>> label_key_problem("app.kubernetes.io/name")
    >>> label_key_problem("/name")
    "must have a domain before its '/', got '/name'"
    """
    domain, slash, word = key.rpartition("/")
    if slash and dns_subdomain_problem(domain) is not None:
        return f"must have a domain before its '/', got {key!r}"
    return _label_word_problem(word)


def truncated_name(*parts: str, limit: int = LABEL_LIMIT) -> str:
    """Join the parts with ``-``; a name beyond the limit is cut and ends in a hash of all of it.

    Two long names that begin alike therefore stay different. Parts are not told apart once joined:
    ``("a-b", "c")`` and ``("a", "b-c")`` are one name, here as everywhere in Kubernetes.

    >>> truncated_name("shop", "storage", "0")
    'shop-storage-0'
    >>> truncated_name("a-shop-with-a-long-name", "storage", limit=24)
    'a-shop-with-a-8313e7449c'
    """
    if not parts or not all(parts):
        raise ValueError(f"a name must be made of parts that are not empty, got {parts!r}")
    if limit < SHORT_HASH_LENGTH + 2:
        raise ValueError(
            f"a name must be allowed {SHORT_HASH_LENGTH + 2} characters, got limit {limit}"
        )
    full = "-".join(parts)
    if len(full) <= limit:
        return full
    head = full[: limit - SHORT_HASH_LENGTH - 1].rstrip("-._")
    return f"{head}-{short_hash(full)}"


def stable_hash(value: Any) -> str:
    """Return the SHA-256 of a JSON-like value, as hex: equal for equal values, in every process.

    Equal means equal as JSON. The order of an object's members does not count, tuples are lists,
    and a number is its value, so ``1`` and ``1.0`` are the same: a server may send one back for the
    other. ``"1"`` and ``True`` are different from it and from each other. The digest is one
    character too long for a label: use :func:`short_hash` there.

    >>> stable_hash({"a": 1, "b": (True,)}) == stable_hash({"b": [True], "a": 1.0})
    True
    """
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def short_hash(value: Any) -> str:
    """Return the first ten characters of :func:`stable_hash`: safe in labels and in names."""
    return stable_hash(value)[:SHORT_HASH_LENGTH]


def _length_problem(name: str, limit: int) -> str | None:
    if len(name) <= limit:
        return None
    return f"must be at most {limit} characters long, got {len(name)}: {name!r}"


def _label_word_problem(word: str) -> str | None:
    if _LABEL_WORD.fullmatch(word) is None:
        return (
            "must be of letters, digits, '-', '_' and '.', with a letter or digit"
            f" at both ends, got {word!r}"
        )
    return _length_problem(word, LABEL_LIMIT)


def _canonical(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return int(value) if value.is_integer() else value
        case list() | tuple():
            return [_canonical(item) for item in value]
        case Mapping():
            return {_member_name(name): _canonical(item) for name, item in value.items()}
        case _:
            raise TypeError(f"a value must be JSON-like to be hashed, got {type(value).__name__}")


def _member_name(name: Any) -> str:
    # JSON would write the key 1 as "1", and two different values would share a hash.
    if not isinstance(name, str):
        raise TypeError(f"the keys of a hashed object must be text, got {name!r}")
    return name
