"""Which proxy a connection goes through, by the rules that kubectl follows.

The environment is read here and not by the HTTP library, which would ask the process (and
``~/.netrc``) behind our back, and which does not understand networks such as ``10.0.0.0/8`` in
``NO_PROXY``: inside a cluster that is the usual way to keep the API server off the proxy.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from stateward.core.errors import UsageError

_SCHEMES = ("http", "https")


def explicit(url: str, place: str) -> str:
    """Return the proxy that a kubeconfig names; ``place`` says where it does, for the error."""
    parts = _split(url)
    if parts is None or parts.scheme not in _SCHEMES or not parts.hostname:
        raise UsageError(
            f"{place} must be an http:// or https:// proxy address",
            hint="use an HTTP proxy, or remove it to connect directly",
        )
    return url


def from_environment(server: str, environment: Mapping[str, str]) -> str:
    """Return the proxy that the environment asks for, or an empty string."""
    target = urlsplit(server)
    name = f"{target.scheme}_proxy"
    found = next((n for n in (name.upper(), name) if environment.get(n)), "")
    if not found or _bypassed(target, environment):
        return ""
    url = environment[found]
    return explicit(url if "://" in url else f"http://{url}", f"the environment variable {found}")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  asking for it is what checks it
    except ValueError:
        return None
    return parts


def _bypassed(target: SplitResult, environment: Mapping[str, str]) -> bool:
    host = (target.hostname or "").rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    port = str(target.port or (443 if target.scheme == "https" else 80))
    listed = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    return any(_matches(rule.strip().lower(), host, address, port) for rule in listed.split(","))


def _matches(
    rule: str, host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: str
) -> bool:
    if rule in {"", "*"}:
        return rule == "*"
    if "/" in rule:
        return address is not None and _in_network(address, rule)
    name, rule_port = _name_and_port(rule)
    if rule_port and rule_port != port:
        return False
    if address is not None:
        return _address(name) == address
    domain = name.removeprefix("*").removeprefix(".")
    return host.endswith(f".{domain}") or (host == domain and name == domain)


def _in_network(address: ipaddress.IPv4Address | ipaddress.IPv6Address, rule: str) -> bool:
    try:
        return address in ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return False


def _name_and_port(rule: str) -> tuple[str, str]:
    if _address(rule) is not None:
        return rule, ""
    name, colon, port = rule.rpartition(":")
    return (name.strip("[]"), port) if colon and port.isdecimal() else (rule.strip("[]"), "")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
