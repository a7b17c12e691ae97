"""What fdbbackup is told besides where a backup lies."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stateward.core.version import Version
from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.backups.steps.start_backup import start_words

PARTITIONED = {"backupType": "partitioned_log"}
OLD, NEW = Version(7, 3, 79), Version(7, 4, 7)


@pytest.mark.parametrize(
    ("over", "version", "words"),
    [
        ({}, OLD, ""),
        (PARTITIONED, OLD, "--partitioned-log-experimental"),
        (PARTITIONED, Version(7, 4, 6), "--partitioned-log-experimental"),
        (PARTITIONED, NEW, "--mutation-log-type partitioned-log-experimental"),
        (PARTITIONED, None, "--partitioned-log-experimental"),
        ({"backupType": "backup_agent"}, NEW, ""),
        ({"encryptionKeyPath": "/key"}, OLD, "--encryption-key-file /key"),
        ({"customParameters": ["knob_a = 1", "locality_data_hall=x"]}, OLD, "--knob_a=1"),
    ],
)
def test_what_a_start_is_told(over: Any, version: Version | None, words: str) -> None:
    said = {"version": "7.3.79", "clusterName": "shop"} | over
    spec = msgspec.convert(said, FoundationDBBackupSpec)
    assert " ".join(start_words(spec, version)) == words
