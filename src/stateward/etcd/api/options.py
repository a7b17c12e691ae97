"""Flags of etcd: those that the operator sets itself, and those that are there to be set.

Kept in step with the programs: tests/real asks them.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from stateward.core.version import Version


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: What the operator must own: who a member is, where its data lies, whom it joins, where it
#: listens, and what it trusts. The gateway is how the operator itself speaks to members.
OWNED: Final = _words("""
    name data-dir wal-dir config-file force-new-cluster strict-reconfig-check
    enable-grpc-gateway listen-peer-urls listen-client-urls listen-client-http-urls
    listen-metrics-urls advertise-client-urls initial-advertise-peer-urls initial-cluster
    initial-cluster-state initial-cluster-token auto-tls cert-file key-file trusted-ca-file
    client-cert-auth client-cert-file client-key-file peer-auto-tls peer-cert-file peer-key-file
    peer-trusted-ca-file peer-client-cert-auth peer-client-cert-file peer-client-key-file
    version help
""")
#: Other ways to find or to be a cluster, which the operator would know nothing about.
OWNED_PREFIXES: Final = ("discovery", "proxy")

#: What a flag looks like; etcd itself would not understand anything else.
FLAG: Final = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"

_EVERYWHERE: Final = frozenset(
    _words("""
    auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention
    backend-batch-interval backend-batch-limit backend-bbolt-freelist-type bcrypt-cost
    cipher-suites client-cert-allowed-hostname client-crl-file cors election-timeout
    enable-log-rotation enable-pprof experimental-bootstrap-defrag-threshold-megabytes
    experimental-compact-hash-check-enabled experimental-compact-hash-check-time
    experimental-compaction-batch-limit experimental-compaction-sleep-interval
    experimental-corrupt-check-time experimental-distributed-tracing-address
    experimental-distributed-tracing-instance-id experimental-distributed-tracing-sampling-rate
    experimental-distributed-tracing-service-name experimental-downgrade-check-time
    experimental-enable-distributed-tracing experimental-enable-lease-checkpoint
    experimental-enable-lease-checkpoint-persist experimental-initial-corrupt-check
    experimental-memory-mlock experimental-peer-skip-client-san-verification
    experimental-snapshot-catchup-entries experimental-stop-grpc-service-on-defrag
    experimental-txn-mode-write-with-shared-buffer experimental-warning-apply-duration
    experimental-watch-progress-notify-interval grpc-keepalive-interval grpc-keepalive-min-time
    grpc-keepalive-timeout heartbeat-interval host-whitelist initial-election-tick-advance
    log-level log-outputs log-rotation-config-json logger max-concurrent-streams
    max-request-bytes max-snapshots max-txn-ops max-wals metrics peer-cert-allowed-cn
    peer-cert-allowed-hostname peer-crl-file pre-vote quota-backend-bytes raft-read-timeout
    raft-write-timeout self-signed-cert-validity snapshot-count socket-reuse-address
    socket-reuse-port tls-max-version tls-min-version unsafe-no-fsync v2-deprecation
    """)
)

_ONLY_3_5: Final = frozenset(
    _words("""
    enable-v2 experimental-enable-v2v3
    """)
)

_ONLY_3_6: Final = frozenset(
    _words("""
    bootstrap-defrag-threshold-megabytes compact-hash-check-time compaction-batch-limit
    compaction-sleep-interval corrupt-check-time distributed-tracing-address
    distributed-tracing-instance-id distributed-tracing-sampling-rate
    distributed-tracing-service-name downgrade-check-time enable-distributed-tracing
    experimental-warning-unary-request-duration feature-gates log-format max-learners
    memory-mlock peer-skip-client-san-verification snapshot-catchup-entries
    warning-apply-duration warning-unary-request-duration watch-progress-notify-interval
    """)
)

_KNOWN: Final = {(3, 5): _EVERYWHERE | _ONLY_3_5, (3, 6): _EVERYWHERE | _ONLY_3_6}


def owned(name: str) -> bool:
    """Tell whether a flag is the operator's to set.

    >>> owned("data-dir"), owned("discovery-srv"), owned("snapshot-count")
    (True, True, False)
    """
    return name in OWNED or name.startswith(OWNED_PREFIXES)


def known_flags(version: Version) -> frozenset[str] | None:
    """Return the flags that may be given to etcd of a version; None when we do not know it."""
    return _KNOWN.get((version.major, version.minor))


def flag_problem(name: str, version: Version | None) -> str | None:
    """Say why an option cannot be given to etcd of a version, or None.

    Of a version that we do not know, any name that looks like a flag may be one.

    >>> flag_problem("snapshot-cuont", Version(3, 6, 1))
    'etcd 3.6 has no such flag; did you mean snapshot-count?'
    """
    if re.fullmatch(FLAG, name) is None:
        return "must be a flag of etcd without its dashes: a-z, 0-9 and '-' between them"
    if owned(name):
        return "is set by the operator itself"
    known = known_flags(version) if version else None
    if version is None or known is None or name in known:
        return None
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    meant = f"; did you mean {close[0]}?" if close else ""
    return f"etcd {version.major}.{version.minor} has no such flag{meant}"
