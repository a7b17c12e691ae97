"""Numbers that a real database measures: here they are those of one that has nothing to do.

Whoever reads a status finds every path that it would find in the real one; nobody decides by these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from stateward.emulate.fdb.keys import A_SECOND
from stateward.emulate.fdb.servers import Server

_USED: Final = 104_861_752
#: Seconds after which what was written is on a disk.
_DURABLE: Final = 5.0
_UNLIMITED: Final = {
    "description": "The database is not being saturated by the workload.",
    "name": "workload",
    "reason_id": 2,
}


def counters(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return counters of what never happened."""
    return {name: {"counter": 0, "hz": 0, "roughness": -1} for name in names}


def rates(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return rates of what does not happen."""
    return {name: {"hz": 0} for name in names}


def lagging(seconds: float) -> dict[str, float]:
    """Return how far something is behind."""
    return {"seconds": seconds, "versions": int(seconds * A_SECOND)}


def of_process(server: Server) -> dict[str, Any]:
    """Return what is measured of a process and its machine's disk."""
    moved = {"counter": 0, "hz": 0, "sectors": 0}
    return {
        "cpu": {"usage_cores": 0.05},
        "disk": {
            "busy": 0.03,
            "free_bytes": server.disk.free,
            "reads": dict(moved),
            "total_bytes": server.disk.total,
            "writes": dict(moved),
        },
        "memory": {
            "available_bytes": 1_572_864_000,
            "limit_bytes": 1_572_864_000,
            "rss_bytes": 62_930_944,
            "unused_allocated_memory": 0,
            "used_bytes": 392_441_856,
        },
        "network": {
            **rates(("connection_errors", "connections_closed", "connections_established")),
            "current_connections": 9,
            **rates(("megabits_received", "megabits_sent", "tls_policy_failures")),
        },
        "run_loop_busy": server.busy,
    }


def of_machine() -> dict[str, Any]:
    """Return what is measured of a machine."""
    return {
        "cpu": {"logical_core_utilization": 0.4},
        "memory": {
            "committed_bytes": 655_736_832,
            "free_bytes": 24_619_057_152,
            "total_bytes": 25_274_793_984,
        },
        "network": rates(("megabits_received", "megabits_sent", "tcp_segments_retransmitted")),
    }


def of_storage(server: Server, stored: int) -> dict[str, Any]:
    """Return what is measured of a storage server."""
    return {
        **counters(
            (
                "bytes_queried",
                "durable_bytes",
                "fetched_versions",
                "fetches_from_logs",
                "finished_queries",
                "input_bytes",
                "keys_queried",
                "low_priority_queries",
                "mutation_bytes",
                "mutations",
                "total_queries",
            )
        ),
        "data_lag": lagging(server.lag),
        "durability_lag": lagging(server.lag + _DURABLE),
        "kvstore_available_bytes": server.disk.free,
        "kvstore_free_bytes": server.disk.free,
        "kvstore_inline_keys": 0,
        "kvstore_total_bytes": server.disk.total,
        "kvstore_total_nodes": 0,
        "kvstore_total_size": 0,
        "kvstore_used_bytes": _USED + stored,
        "local_rate": 100,
        "query_queue_max": 0,
        "tss": False,
    }


def of_log(server: Server) -> dict[str, Any]:
    """Return what is measured of a log."""
    names = ("kvstore_available_bytes", "kvstore_free_bytes", "queue_disk_available_bytes")
    return {
        **counters(("durable_bytes", "input_bytes")),
        **dict.fromkeys((*names, "queue_disk_free_bytes"), server.disk.free),
        **dict.fromkeys(("kvstore_total_bytes", "queue_disk_total_bytes"), server.disk.total),
        "kvstore_used_bytes": _USED,
        "queue_disk_used_bytes": 520_192,
    }


def of_database(lag: float) -> dict[str, Any]:
    """Return what is measured of a database that serves; ``lag`` is that of the worst copy."""
    return {
        "latency_probe": {
            "batch_priority_transaction_start_seconds": 0.006,
            "commit_seconds": 0.005,
            "immediate_priority_transaction_start_seconds": 0.004,
            "read_seconds": 0.001,
            "transaction_start_seconds": 0.006,
        },
        "page_cache": {"log_hit_rate": 1, "storage_hit_rate": 1},
        "qos": _qos(lag),
        "workload": {
            "bytes": counters(("read", "written")),
            "keys": counters(("read",)),
            "operations": counters(_OPERATIONS),
            "transactions": counters(_TRANSACTIONS),
        },
    }


def latencies() -> dict[str, float]:
    """Return statistics of what nearly never took any time."""
    middle = ("mean", "median", "p25", "p90", "p95", "p99", "p99.9")
    return {"count": 12, "max": 0.002, "min": 0.0004, **dict.fromkeys(middle, 0.0008)}


_OPERATIONS: Final = (
    "location_requests",
    "low_priority_reads",
    "memory_errors",
    "read_requests",
    "reads",
    "writes",
)
_TRANSACTIONS: Final = (
    "committed",
    "conflicted",
    "rejected_for_queued_too_long",
    "started",
    "started_batch_priority",
    "started_default_priority",
    "started_immediate_priority",
)


def _qos(lag: float) -> dict[str, Any]:
    return {
        "batch_performance_limited_by": dict(_UNLIMITED),
        "batch_released_transactions_per_second": 0.5,
        "batch_transactions_per_second_limit": 1_000_000_000,
        "limiting_data_lag_storage_server": lagging(lag),
        "limiting_durability_lag_storage_server": lagging(lag + _DURABLE),
        "limiting_queue_bytes_storage_server": 1_149,
        "performance_limited_by": dict(_UNLIMITED),
        "released_transactions_per_second": 12.5,
        "throttled_tags": {
            "auto": {"busy_read": 0, "busy_write": 0, "count": 0, "recommended_only": 0},
            "manual": {"count": 0},
        },
        "transactions_per_second_limit": 271_829_000,
        "worst_data_lag_storage_server": lagging(lag),
        "worst_durability_lag_storage_server": lagging(lag + _DURABLE),
        "worst_queue_bytes_log_server": 15_000,
        "worst_queue_bytes_storage_server": 2_300,
    }
