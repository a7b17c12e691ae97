"""Process classes: what a process would rather do, and what it may do at all."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class ProcessClass(StrEnum):
    """All that FoundationDB 7 knows; ``proxy`` is what older manifests call the proxies."""

    UNSET = "unset"
    STORAGE = "storage"
    TRANSACTION = "transaction"
    RESOLUTION = "resolution"
    STATELESS = "stateless"
    PROXY = "proxy"
    COMMIT_PROXY = "commit_proxy"
    GRV_PROXY = "grv_proxy"
    MASTER = "master"
    TEST = "test"
    LOG = "log"
    ROUTER = "router"
    CLUSTER_CONTROLLER = "cluster_controller"
    FAST_RESTORE = "fast_restore"
    DATA_DISTRIBUTOR = "data_distributor"
    COORDINATOR = "coordinator"
    RATEKEEPER = "ratekeeper"
    STORAGE_CACHE = "storage_cache"
    BACKUP = "backup"
    BLOB_MANAGER = "blob_manager"
    BLOB_WORKER = "blob_worker"
    ENCRYPT_KEY_PROXY = "encrypt_key_proxy"
    CONSISTENCY_SCAN = "consistency_scan"

    @property
    def may_store(self) -> bool:
        """Whether a storage server is put there, if only as a last resort."""
        return self in _STORES

    @property
    def may_log(self) -> bool:
        """Whether a log is put there, if only as a last resort."""
        return self in _LOGS

    @property
    def may_be_stateless(self) -> bool:
        """Whether proxies, resolvers and the like are put there."""
        return self not in _ALONE


_STORES: Final = {
    ProcessClass.STORAGE,
    ProcessClass.UNSET,
    ProcessClass.TRANSACTION,
    ProcessClass.LOG,
}
_LOGS: Final = {
    ProcessClass.LOG,
    ProcessClass.TRANSACTION,
    ProcessClass.UNSET,
    ProcessClass.STORAGE,
}
_ALONE: Final = {
    ProcessClass.COORDINATOR,
    ProcessClass.TEST,
    ProcessClass.STORAGE_CACHE,
    ProcessClass.BLOB_WORKER,
}
