"""Whom a test's own HTTP client trusts, by what is said of a cluster."""

from __future__ import annotations

import ssl

from stateward.kube.http.access import ClusterAccess, PemFile, PemText


def trusting(access: ClusterAccess) -> ssl.SSLContext | bool:
    """Return what aiohttp wants to know about TLS."""
    authority = access.tls.authority
    if isinstance(authority, PemText):
        return ssl.create_default_context(cadata=authority.text.decode())
    if isinstance(authority, PemFile):
        return ssl.create_default_context(cafile=authority.path)
    return True
