"""Names of roles: drawn there, and always the same here."""

from __future__ import annotations


def role_id(disk: str, role: str) -> str:
    """Return a number of sixteen digits that is always the same for a role of a process."""
    return f"{sum((n + 1) * 257**2 * it for n, it in enumerate(f'{disk}{role}'.encode())):016x}"
