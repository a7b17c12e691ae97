"""Certificates of one authority for FoundationDB's processes and for the operator."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from fakes import fdb_tls
from stateward.local.issuing import Authority

#: The secret of the operator, in its own namespace.
OPERATORS: Final = "fdb-operator"


@cache
def _signer() -> Authority:
    return fdb_tls.authority(datetime.now(UTC))


def secret(namespace: str, name: str = fdb_tls.SECRET) -> dict[str, Any]:
    """Return a secret with a certificate, its key and who signed it."""
    return fdb_tls.secret(fdb_tls.files(_signer(), datetime.now(UTC)), namespace, name)
