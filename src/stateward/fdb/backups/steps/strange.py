"""Looking into a blob store before a backup is written there: whose is what lies there?"""

from __future__ import annotations

from typing import Final

from stateward.core.clock import Clock
from stateward.core.errors import PeerError
from stateward.core.facts import Unknown
from stateward.core.outcome import Blocked, Retry
from stateward.fdb.admin.backups.ports import BackupAdmin
from stateward.fdb.admin.errors import DatabaseRefused, Refusal
from stateward.fdb.api.backups import urls
from stateward.fdb.backups.cleaning.chores import Chores
from stateward.fdb.decide.backups import belonging
from stateward.fdb.decide.backups.views import BackupView
from stateward.fdb.status.backups.container import Container

#: Seconds for which what lies in a store is not read again.
_AGAIN: Final = 600.0
#: Seconds until one that could not be read is.
_UNSEEN: Final = 30.0
#: Seconds until it is asked again whether files that are being deleted are.
_EMPTIED: Final = 10.0


class Strange:
    """Finds backups of which the database knows nothing; where nobody can see, nobody writes."""

    def __init__(self, clock: Clock, chores: Chores) -> None:
        self._clock = clock
        self._chores = chores
        #: By the UID of an object: where it found another's backup, and until when that counts.
        self._found: dict[str, tuple[str, float]] = {}

    async def at(self, view: BackupView, admin: BackupAdmin, url: str) -> Blocked | Retry | None:
        """Return that one is at a place where another is to be written, or may be."""
        if not urls.is_file(url) and (whose := self._chores.empties(url)):
            words = f"waiting until the files of {whose} in the same place are deleted"
            return Retry(_EMPTIED, "LeftoverLeaving", words)
        if not belonging.must_look(view, url):
            return None
        now = self._clock.monotonic()
        before, until = self._found.get(view.uid, ("", 0.0))
        if before != url or until <= now:
            self._found.pop(view.uid, None)
            found = await _described(admin, url)
            if isinstance(found, Unknown):
                words = f"nobody knows whether another backup is at {urls.shown(url)}"
                return Retry(_UNSEEN, "BackupUnknown", f"{words}: {found.reason}")
            if not belonging.has_data(found):
                return None
            self._found[view.uid] = url, now + _AGAIN
        stranger = "a database that knows nothing of this one"
        return belonging.refused(url, stranger, "; or delete that backup, and wait ten minutes")


async def _described(admin: BackupAdmin, url: str) -> Container | Unknown:
    try:
        return await admin.describe(url)
    except DatabaseRefused as error:
        if error.refusal is Refusal.DESTINATION_INVALID:
            return Container(url, exists=False)  # who starts one there hears why not
        return Unknown(error.message)
    except PeerError as error:
        return Unknown(error.message)
