"""Which exclusions are taken back. Groups are written as in ``fakes.fdb_views``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import cluster, group, names
from stateward.fdb.decide.including import cancelled, inclusions, retained
from stateward.fdb.model.exclusions import ByAddress, of_instance


@pytest.mark.parametrize(("other", "many"), [("s2", 1), ("s2-", 0)])
def test_an_address_stays_only_with_another_that_shall_go(other: str, many: int) -> None:
    gone = group("s1!>", 1)
    heir = replace(group(other, 2), addresses=gone.addresses)
    (found,) = inclusions([gone], [heir], {ByAddress(gone.addresses[0])})
    assert len(found.entries) == many


def test_only_who_is_named_to_stay_is_included() -> None:
    options = {"cancelReplacementsForProcessGroups": ["storage-1", "storage-2"]}
    view = cluster("s1 s2- s3", automationOptions=options)
    assert names(cancelled(view)) == ["storage-1"]
    every = {of_instance(str(it.id)) for it in view.groups}
    assert retained(cancelled(view), every) == (of_instance("storage-1"),)
    assert cancelled(cluster("s1 s2", automationOptions={})) == ()
    everybody = {"cancelReplacementsForProcessGroups": ["*"]}
    assert cancelled(cluster("s1 s2", automationOptions=everybody)) == ()
