"""Moments as Kubernetes writes them. Pure: nothing here knows what time it is."""

from __future__ import annotations

from datetime import UTC, datetime


def to_rfc3339(seconds: float) -> str:
    """Write a moment as Kubernetes does in metadata: whole seconds, UTC.

    >>> to_rfc3339(1_700_000_000.9)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_rfc3339_micro(seconds: float) -> str:
    """Write a moment as Kubernetes' MicroTime, which leases use.

    >>> to_rfc3339_micro(1_700_000_000.25)
    '2023-11-14T22:13:20.250000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_rfc3339(text: str) -> float:
    """Read a moment written by Kubernetes, with or without fractions.

    >>> from_rfc3339("2023-11-14T22:13:20Z")
    1700000000.0
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"a time must look like 2006-01-02T15:04:05Z, got {text!r}") from None
    if moment.tzinfo is None:
        raise ValueError(f"a time must name its zone, as in 2006-01-02T15:04:05Z, got {text!r}")
    return moment.timestamp()
