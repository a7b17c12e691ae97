"""Whatever a database has been through, what is kept of it says the same as it did."""

from __future__ import annotations

import pytest

from fakes.fdb_situations import SITUATIONS
from stateward.core.chance import Chance
from stateward.emulate.fdb import saving
from stateward.emulate.fdb.telling import document


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_kept_is_all_of_it(name: str) -> None:
    before = SITUATIONS[name]().database
    after = saving.restored(saving.saved(before), Chance(1), lambda _born: before.now)
    for it in (before, after):
        it.advance(it.now + 30.0)
    seen = [document.status(it, it.string, "fdb.cluster") for it in (before, after)]
    if before.agents.here or before.agents.gone:
        del seen[0]["cluster"]["layers"]["backup"]  # agents come again to who controls it next
    assert seen[0] == seen[1]
    assert after.backups == before.backups
