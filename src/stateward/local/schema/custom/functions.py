"""The functions that Kubernetes adds to CEL: lists, patterns, quantities, addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import lru_cache, wraps
from importlib import import_module
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, parse_qs, urlsplit

from stateward.core.errors import UsageError
from stateward.core.quantity import Quantity
from stateward.local.schema.formats import is_cidr, is_ip

#: A quantity is a map to the evaluator, with its billionths as text: they may not fit its numbers.
_NANO: Final = "nano"
_ADDRESS: Final = "address"
_RANGE: Final = "range"
_URL: Final = "url"


class FunctionError(ValueError):
    """What a function cannot do, in words for the writer of a rule."""


class Function(NamedTuple):
    """One function: its name, the types it takes and gives, and what it does."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    does: Callable[..., Any]
    #: Whether it is written after its first parameter: ``list.sum()``.
    is_member: bool = True


def declarations(cel: Any) -> list[Any]:
    """Return all functions as the library wants them declared."""
    kinds = {name: getattr(cel.Type, name) for name in _KINDS}
    overloads: dict[str, list[Any]] = {}
    for place, it in enumerate(_FUNCTIONS):
        overloads.setdefault(it.name, []).append(
            cel.Overload(
                f"stateward_{place}",
                kinds[it.gives],
                [kinds[name] for name in it.parameters],
                it.is_member,
                _plainly(it),
            )
        )
    return [cel.FunctionDecl(name, some) for name, some in overloads.items()]


def _plainly(function: Function) -> Callable[..., Any]:
    """Have a function say in words of its own what it cannot do; others speak of Python."""

    @wraps(function.does)
    def does(*given: Any) -> Any:
        try:
            return function.does(*given)
        except (FunctionError, UsageError):
            raise
        except Exception:  # noqa: BLE001 - it sees whatever values a rule gives it
            raise FunctionError(f"no such overload: {function.name} of such values") from None

    return does


#: A rule that looks at more of them would hold up everybody else.
_MOST_MATCHES: Final = 10_000

_KINDS: Final = ("DYN", "LIST", "MAP", "STRING", "INT", "DOUBLE", "BOOL")


# ------------------------------------------------------------------ lists
def _is_sorted(items: list[Any]) -> bool:
    return all(items[i] <= items[i + 1] for i in range(len(items) - 1))


def _least(items: list[Any]) -> Any:
    if not items:
        raise FunctionError("min called on empty list")
    return min(items)


def _greatest(items: list[Any]) -> Any:
    if not items:
        raise FunctionError("max called on empty list")
    return max(items)


def _has_all(items: list[Any], others: list[Any]) -> bool:
    return all(other in items for other in others)


def _has_any(items: list[Any], others: list[Any]) -> bool:
    return any(other in items for other in others)


def _are_equivalent(items: list[Any], others: list[Any]) -> bool:
    return _has_all(items, others) and _has_all(others, items)


# ------------------------------------------------------------------ patterns
def _find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found.group(0) if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    most = _MOST_MATCHES if limit < 0 else min(limit, _MOST_MATCHES)
    every = list(islice(_compiled(pattern).finditer(text), most + 1))
    if len(every) > _MOST_MATCHES:
        raise FunctionError(f"findAll found more than {_MOST_MATCHES} matches")
    return [found.group(0) for found in every[:most]]


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """Return a pattern that takes no longer than its text is long, whatever it is."""
    try:
        re2 = import_module("re2")
    except ModuleNotFoundError as error:
        raise UsageError(
            "patterns in the schemas of custom kinds need google-re2: install stateward[local]"
        ) from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise FunctionError(f"invalid regular expression: {_said(error)}") from None


def pattern_problem(pattern: str) -> str | None:
    """Say why a pattern is none, or None."""
    try:
        _compiled(pattern)
    except FunctionError as error:
        return str(error)
    return None


def _said(error: Exception) -> str:
    """Return what a library says about an error, as text."""
    told = error.args[0] if error.args else ""
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)


# ------------------------------------------------------------------ quantities
def _quantity(text: str) -> dict[str, str]:
    try:
        return {_NANO: str(Quantity.parse(text).nano)}
    except ValueError as error:
        raise FunctionError(str(error)) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except ValueError:
        return False
    return True


def _nano(quantity: dict[str, str]) -> int:
    return int(quantity[_NANO])


def _compare(a: dict[str, str], b: dict[str, str]) -> int:
    return (_nano(a) > _nano(b)) - (_nano(a) < _nano(b))


def _plus(a: dict[str, str], b: Any, sign: int = 1) -> dict[str, str]:
    other = b * 10**9 if isinstance(b, int) else _nano(b)
    return {_NANO: str(_nano(a) + sign * other)}


def _whole(quantity: dict[str, str]) -> int:
    whole, rest = divmod(_nano(quantity), 10**9)
    if rest:
        raise FunctionError("cannot convert value to integer")
    return whole


# ------------------------------------------------------------------ addresses
def _ip(text: str) -> dict[str, str]:
    if not is_ip(text):
        raise FunctionError(f"IP Address {text!r} parse error during conversion from string")
    return {_ADDRESS: str(ipaddress.ip_address(text))}


def _address(address: dict[str, str]) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(address[_ADDRESS])


def _cidr(text: str) -> dict[str, str]:
    if not is_cidr(text):
        raise FunctionError(f"network address parse error during conversion from string: {text!r}")
    return {_RANGE: text}


def _network(cidr: dict[str, str]) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(cidr[_RANGE], strict=False)


def _contains_ip(cidr: dict[str, str], address: Any) -> bool:
    text = address if isinstance(address, str) else address[_ADDRESS]
    return ipaddress.ip_address(text) in _network(cidr)


def _contains_cidr(cidr: dict[str, str], other: Any) -> bool:
    mine, its = _network(cidr), _network(_cidr(other) if isinstance(other, str) else other)
    return mine.version == its.version and its.subnet_of(mine)  # type: ignore[arg-type]


def _url(text: str) -> dict[str, str]:
    if not _is_url(text):
        raise FunctionError(f"URL parse error during conversion from string: {text!r}")
    return {_URL: text}


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text.startswith("/") or bool(parts.scheme)


def _part(url: dict[str, str]) -> SplitResult:
    return urlsplit(url[_URL])


_FUNCTIONS: Final = (
    Function("isSorted", ("LIST",), "BOOL", _is_sorted),
    Function("sum", ("LIST",), "DYN", sum),
    Function("min", ("LIST",), "DYN", _least),
    Function("max", ("LIST",), "DYN", _greatest),
    Function("find", ("STRING", "STRING"), "STRING", _find),
    Function("findAll", ("STRING", "STRING"), "LIST", _find_all),
    Function("findAll", ("STRING", "STRING", "INT"), "LIST", _find_all),
    Function("quantity", ("STRING",), "DYN", _quantity, is_member=False),
    Function("isQuantity", ("STRING",), "BOOL", _is_quantity, is_member=False),
    Function("compareTo", ("MAP", "MAP"), "INT", _compare),
    Function("isGreaterThan", ("MAP", "MAP"), "BOOL", lambda a, b: _compare(a, b) > 0),
    Function("isLessThan", ("MAP", "MAP"), "BOOL", lambda a, b: _compare(a, b) < 0),
    Function("add", ("MAP", "MAP"), "DYN", _plus),
    Function("add", ("MAP", "INT"), "DYN", _plus),
    Function("sub", ("MAP", "MAP"), "DYN", lambda a, b: _plus(a, b, -1)),
    Function("sub", ("MAP", "INT"), "DYN", lambda a, b: _plus(a, b, -1)),
    Function("sign", ("MAP",), "INT", lambda q: (_nano(q) > 0) - (_nano(q) < 0)),
    Function("isInteger", ("MAP",), "BOOL", lambda q: _nano(q) % 10**9 == 0),
    Function("asInteger", ("MAP",), "INT", _whole),
    Function("asApproximateFloat", ("MAP",), "DOUBLE", lambda q: _nano(q) / 10**9),
    Function("ip", ("STRING",), "DYN", _ip, is_member=False),
    Function("isIP", ("STRING",), "BOOL", is_ip, is_member=False),
    Function("family", ("MAP",), "INT", lambda address: _address(address).version),
    Function("isLoopback", ("MAP",), "BOOL", lambda a: _address(a).is_loopback),
    Function("isUnspecified", ("MAP",), "BOOL", lambda a: _address(a).is_unspecified),
    Function("isLinkLocalUnicast", ("MAP",), "BOOL", lambda a: _address(a).is_link_local),
    Function("cidr", ("STRING",), "DYN", _cidr, is_member=False),
    Function("isCIDR", ("STRING",), "BOOL", is_cidr, is_member=False),
    Function("containsIP", ("MAP", "STRING"), "BOOL", _contains_ip),
    Function("containsIP", ("MAP", "MAP"), "BOOL", _contains_ip),
    Function("containsCIDR", ("MAP", "STRING"), "BOOL", _contains_cidr),
    Function("containsCIDR", ("MAP", "MAP"), "BOOL", _contains_cidr),
    Function("prefixLength", ("MAP",), "INT", lambda cidr: _network(cidr).prefixlen),
    Function("masked", ("MAP",), "DYN", lambda cidr: {_RANGE: str(_network(cidr))}),
    Function("ip", ("MAP",), "DYN", lambda cidr: _ip(cidr[_RANGE].partition("/")[0])),
    Function("sets.contains", ("LIST", "LIST"), "BOOL", _has_all, is_member=False),
    Function("sets.equivalent", ("LIST", "LIST"), "BOOL", _are_equivalent, is_member=False),
    Function("sets.intersects", ("LIST", "LIST"), "BOOL", _has_any, is_member=False),
    Function("url", ("STRING",), "DYN", _url, is_member=False),
    Function("isURL", ("STRING",), "BOOL", _is_url, is_member=False),
    Function("getScheme", ("MAP",), "STRING", lambda url: _part(url).scheme),
    Function("getHost", ("MAP",), "STRING", lambda url: _part(url).netloc),
    Function("getHostname", ("MAP",), "STRING", lambda url: _part(url).hostname or ""),
    Function("getPort", ("MAP",), "STRING", lambda url: str(_part(url).port or "")),
    Function("getEscapedPath", ("MAP",), "STRING", lambda url: _part(url).path),
    Function("getQuery", ("MAP",), "MAP", lambda url: parse_qs(_part(url).query)),
)
