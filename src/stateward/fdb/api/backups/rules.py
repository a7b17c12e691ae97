"""What must be true of backups and restores, in CEL: the API server asks it, at the door.

Everything is asked again in Python (checks.py). Rules refuse only what no operator could honour.
"""

from __future__ import annotations

from typing import Final

from stateward.kube.crd.fields import Rule

#: What may begin or end a range of keys, as the compatible operator has it.
KEY: Final = r"^[A-Za-z0-9/\\-]+$"
#: A folder, of which nothing is told but its path.
FILE_URL: Final = r"^(file:///[A-Za-z0-9_./-]+)?$"
#: It reaches command lines, URLs and labels.
TAG: Final = r"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$"
#: Five fields, or a word for them; whether it ever comes is asked in Python.
SCHEDULE: Final = r"^(@[a-z]+( [0-9a-z.]+)?|[^ @]+( +[^ ]+){4})?$"

_BOTH: Final = "!(self.?fileURL.orValue('') != '' && has(self.blobStoreConfiguration))"

BACKUP_RULES: Final = (
    Rule(
        "self.?tag.orValue('default') == oldSelf.?tag.orValue('default')",
        "tag cannot be changed: a backup is one for good; make another object instead",
        field_path=".tag",
    ),
    Rule(
        "self.clusterName == oldSelf.clusterName",
        "clusterName cannot be changed: a backup is of one cluster for good",
        field_path=".clusterName",
    ),
    Rule(_BOTH, "fileURL and blobStoreConfiguration must not be given both", field_path=".fileURL"),
    Rule(
        "self.?schedule.orValue('') == '' || self.?backupMode.orValue('') == 'oneTime'",
        "schedule must go with backupMode: oneTime",
        field_path=".schedule",
    ),
    Rule(
        "self.?schedule.orValue('') == '' || !has(self.retention)",
        "retention must not be given with schedule: each backup lies by itself then",
        field_path=".retention",
    ),
    Rule(
        "self.?backupType.orValue('') != 'unmanaged' || !has(self.drill)",
        "drill must not be given with backupType: unmanaged",
        field_path=".drill",
    ),
)
RESTORE_RULES: Final = (
    Rule(_BOTH, "fileURL and blobStoreConfiguration must not be given both", field_path=".fileURL"),
    Rule(
        "self.?backupName.orValue('') == ''"
        " || (self.?fileURL.orValue('') == '' && !has(self.blobStoreConfiguration))",
        "backupName must not be given with fileURL or blobStoreConfiguration",
        field_path=".backupName",
    ),
    # What is deleted was said when the object was made, and by whoever might do that.
    Rule(
        "self.?destinationPolicy.orValue('refuse') == oldSelf.?destinationPolicy.orValue('refuse')",
        "destinationPolicy cannot be changed: make another object instead",
        field_path=".destinationPolicy",
    ),
    Rule(
        "self.?destinationPolicy.orValue('refuse') != 'clear'"
        " || (self.destinationClusterName == oldSelf.destinationClusterName"
        " && self.?destinationClusterUID.orValue('') == oldSelf.?destinationClusterUID.orValue('')"
        " && self.?keyRanges.orValue([]) == oldSelf.?keyRanges.orValue([]))",
        "destinationClusterName, destinationClusterUID and keyRanges cannot be changed where keys"
        " are cleared:"
        " make another object instead",
        field_path=".keyRanges",
    ),
)
