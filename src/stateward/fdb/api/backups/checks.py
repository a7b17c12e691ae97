"""Everything that is wrong with a backup or a restore, said before anything is done about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from stateward.core import naming
from stateward.core.version import Version
from stateward.fdb.api.backups import rules
from stateward.fdb.api.backups.backup import FoundationDBBackupSpec
from stateward.fdb.api.backups.drill_checks import drill_problems
from stateward.fdb.api.backups.kinds import LONGEST_NAME, FoundationDBBackup, FoundationDBRestore
from stateward.fdb.api.backups.restore import FoundationDBRestoreSpec
from stateward.fdb.api.backups.stores import BlobStore
from stateward.fdb.api.checks.templates import (
    image_problems,
    metadata_problems,
    template_problems,
)
from stateward.fdb.api.processes import ContainerOverrides
from stateward.fdb.model.backups import USER_KEYS, KeyRange
from stateward.fdb.model.versions import has_backup_encryption
from stateward.kube.crd.findings import Problem

_TAG: Final = re.compile(rules.TAG.strip("^$"))
_FILE: Final = re.compile(r"file:///[A-Za-z0-9_./-]+")
_ACCOUNT: Final = re.compile(r"([^\s/?&#:@]+@)?[^\s/?&#@]+")
#: What programs take for the name of a container.
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]+")
#: Characters of all ranges on one command line.
_LONGEST_LINE: Final = 1_000_000
#: Wider than S3 has them by now: older ones, and those of other stores, have capitals and '_'.
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_QUERY: Final = re.compile(r"[^\s?&#=]+=[^\s?&#]*")
_PARAMETER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\s*=.*")
#: What the operator itself tells a program.
_TOLD: Final = frozenset(
    {"cluster_file", "c", "tag", "t", "logdir", "log", "locality_zoneid", "locality_machineid"}
)


def backup_problems(backup: FoundationDBBackup) -> tuple[Problem, ...]:
    """Return all that must be otherwise before a backup can be made; nothing: it can."""
    spec, name = backup.spec, backup.metadata.name
    found = [*_name_problems(name), *_version_problems(spec), *_tag_problems(spec.tag)]
    found += _store_problems(spec.blob_store_configuration, spec.file_url)
    is_ours = spec.backup_type != "unmanaged"
    if is_ours and not spec.file_url and spec.blob_store_configuration is None:
        hint = "or make only agents, with backupType: unmanaged"
        found.append(Problem("spec", "must say where: blobStoreConfiguration or fileURL", hint))
    found += _schedule_problems(spec)
    found += _parameter_problems(spec.custom_parameters)
    found += _template_problems(spec)
    found += drill_problems(backup)
    return tuple(found)


def restore_problems(restore: FoundationDBRestore) -> tuple[Problem, ...]:
    """Return all that must be otherwise before a restore can be begun; nothing: it can."""
    spec = restore.spec
    found = [*_store_problems(spec.blob_store_configuration, spec.file_url)]
    found += _source_problems(spec)
    found += _parameter_problems(spec.custom_parameters)
    found += _range_problems(spec)
    return tuple(found)


# ------------------------------------------------------------------ names
def _name_problems(name: str) -> Iterator[Problem]:
    if not name:
        return  # a server has yet to give it one
    if problem := naming.dns_label_problem(name):
        yield Problem("metadata.name", problem, hint="its deployment is named after it")
    elif len(name) > LONGEST_NAME:
        words = f"must be at most {LONGEST_NAME} characters long, got {len(name)}"
        yield Problem("metadata.name", words, hint="its deployment is named after it")


def _version_problems(spec: FoundationDBBackupSpec) -> Iterator[Problem]:
    version = spec.version
    try:
        found = Version.parse(version)
    except ValueError as error:
        yield Problem("spec.version", str(error).removeprefix("a version "))
        return
    if (found.major, found.minor) < (7, 1):
        yield Problem("spec.version", f"must be 7.1.0 or later, got {version}")
    if spec.encryption_key_path and not has_backup_encryption(found):
        words = f"must not be given with {version}, which writes nothing encrypted"
        hint = "FoundationDB 7.3.73 and 7.4.6, and what is later of their lines, can"
        yield Problem("spec.encryptionKeyPath", words, hint)


def _tag_problems(tag: str) -> Iterator[Problem]:
    if tag and not _TAG.fullmatch(tag):
        words = "must be of letters, digits, '-', '_' and '.', with a letter or digit at both ends"
        yield Problem("spec.tag", f"{words}, got {tag!r}")


def _schedule_problems(spec: FoundationDBBackupSpec) -> Iterator[Problem]:
    if not spec.schedule:
        return
    if spec.backup_mode != "oneTime":
        hint = "one that goes on needs none: set backupMode: oneTime, or take schedule away"
        yield Problem("spec.schedule", "must go with backupMode: oneTime", hint)
    if spec.retention is not None:
        words = "must not be given with schedule: each backup lies by itself then"
        yield Problem("spec.retention", words)


# ------------------------------------------------------------------ places
def _store_problems(blob: BlobStore | None, file_url: str) -> Iterator[Problem]:
    if file_url and blob is not None:
        yield Problem("spec.fileURL", "must not be given with blobStoreConfiguration")
    if file_url and (not _FILE.fullmatch(file_url) or not _is_simple(file_url)):
        words = "must be file:///FOLDER with a simple path of letters, digits, '_', '.' and '-'"
        yield Problem("spec.fileURL", f"{words}, got {file_url!r}")
    if blob is not None:
        yield from _blob_problems(blob, "spec.blobStoreConfiguration")


def _is_simple(file_url: str) -> bool:
    """Tell whether a path is as programs want it: nothing twice, nothing up, nothing here."""
    parts = file_url.removeprefix("file:///").rstrip("/").split("/")
    return not {"", ".", ".."} & set(parts)


def _blob_problems(blob: BlobStore, where: str) -> Iterator[Problem]:
    if not _ACCOUNT.fullmatch(blob.account_name):
        # What it is may be a secret, and is not told.
        hint = "name the secret in a file that agents mount, by FDB_BLOB_CREDENTIALS"
        yield Problem(f"{where}.accountName", "must be [KEY@]HOST[:PORT] with no secret", hint)
    if blob.backup_name and not _NAME.fullmatch(blob.backup_name):
        words = "must be of letters, digits, '_', '.', '/' and '-'"
        yield Problem(f"{where}.backupName", f"{words}, got {blob.backup_name!r}")
    if blob.bucket and not _BUCKET.fullmatch(blob.bucket):
        words = "must be of 3 to 63 letters, digits, '-', '_' and '.', with no sign at either end"
        yield Problem(f"{where}.bucket", f"{words}, got {blob.bucket!r}")
    for number, it in enumerate(blob.url_parameters):
        field = f"{where}.urlParameters[{number}]"
        if not _QUERY.fullmatch(it):
            yield Problem(field, "must be NAME=VALUE, as in sc=0")
        elif it.startswith("bucket="):
            yield Problem(field, f"must leave the bucket to {where}.bucket")
        elif "@" in it and "@" not in blob.account_name:
            words = "must have no '@' where accountName has none"
            yield Problem(field, words, "all before the first '@' of a URL is read as the account")


def _source_problems(spec: FoundationDBRestoreSpec) -> Iterator[Problem]:
    given = [bool(spec.backup_name), bool(spec.file_url), spec.blob_store_configuration is not None]
    if sum(given) == 0:
        yield Problem("spec", "must say of what: blobStoreConfiguration, fileURL or backupName")
    elif spec.backup_name and sum(given) > 1:
        words = "must not be given with fileURL or blobStoreConfiguration"
        yield Problem("spec.backupName", words)
    elif spec.backup_name and (problem := naming.dns_label_problem(spec.backup_name)):
        yield Problem("spec.backupName", problem)


def _range_problems(spec: FoundationDBRestoreSpec) -> Iterator[Problem]:
    long = 0
    for number, it in enumerate(spec.key_ranges):
        where = f"spec.keyRanges[{number}]"
        try:
            found = KeyRange.parse(it.start, it.end)
        except ValueError as error:
            hint = r"bytes that are no letters or digits are written as \xNN"
            yield Problem(where, f"{error}", hint)
            continue
        long += len(str(found))
        if spec.destination_policy == "clear" and found.end > USER_KEYS.end:
            yield Problem(where, r"must end at \xff or before, where keys are cleared")
    if long > _LONGEST_LINE:
        words = f"must be at most {_LONGEST_LINE} characters as fdbrestore is told them, got {long}"
        yield Problem("spec.keyRanges", words, "restore them by several objects")


# ------------------------------------------------------------------ agents
def _parameter_problems(said: Sequence[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, text in enumerate(said):
        where = f"spec.customParameters[{number}]"
        name = text.partition("=")[0].strip().lower().replace("-", "_")
        if not _PARAMETER.fullmatch(text):
            words = f"must be NAME=VALUE without dashes before it, got {text!r}"
            yield Problem(where, words, "as in knob_max_trace_lines=1000000")
        elif name in _TOLD:
            yield Problem(where, f"must leave {name} to the operator")
        elif name in seen:
            yield Problem(where, f"must say {name} once")
        seen.add(name)


def _template_problems(spec: FoundationDBBackupSpec) -> Iterator[Problem]:
    yield from metadata_problems(spec.backup_deployment_metadata, "spec.backupDeploymentMetadata")
    if spec.pod_template_spec is not None:
        yield from template_problems(spec.pod_template_spec, "spec.podTemplateSpec")
    pairs: tuple[tuple[str, ContainerOverrides], ...] = (
        ("mainContainer", spec.main_container),
        ("sidecarContainer", spec.sidecar_container),
    )
    for field, container in pairs:
        for number, image in enumerate(container.image_configs):
            where = f"spec.{field}.imageConfigs[{number}].baseImage"
            yield from image_problems(image.base_image, where)
