"""What can be wrong with a folder in which a cluster keeps its data."""

from __future__ import annotations

from stateward.core.errors import StatewardError, UsageError


class FolderBusy(UsageError):
    """Another cluster works on this folder."""

    reason = "FolderBusy"
    hint = "end that one first, or name another folder with --data"


class FolderUnusable(UsageError):
    """The folder cannot be read or written."""

    reason = "FolderUnusable"
    hint = "name a folder with --data that you may write, on a disk that has room"


class JournalUnreadable(StatewardError):
    """The file is no journal of ours; nothing of it was changed."""

    reason = "JournalUnreadable"
    hint = "it may be from a newer release; `stateward local reset` begins anew"
