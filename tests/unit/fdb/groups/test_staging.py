"""A pod has the programs of another version when its sidecar says so, and not before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.fdb_views import cluster, spec
from stateward.core.version import Version
from stateward.fdb.api.group import FoundationDBProcessGroupSpec
from stateward.fdb.api.group import GroupConditionType as Is
from stateward.fdb.build.config_map import files_hash
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.decide.groups import failures
from stateward.fdb.decide.groups.replacing import why_replace
from stateward.fdb.decide.groups.staging import has_server_of, with_programs_of
from stateward.fdb.groups.syncing import synchronize
from stateward.fdb.model import names
from stateward.fdb.model.names import ProcessGroupID
from stateward.fdb.views import GroupView
from unit.fdb.groups.desks import Sidecar

OLD, NEW = "7.1.61", "7.3.63"
GROUP = FoundationDBProcessGroupSpec(
    cluster_name="shop", process_group_id="storage-1", process_class="storage", image_type="split"
)
RUNNING = {names.RUNNING_VERSION_KEY: OLD}
STAGED = {**RUNNING, names.STAGED_VERSION_KEY: NEW}
BROUGHT = f"/var/dynamic-conf/bin/{NEW}"


@pytest.mark.parametrize(
    ("data", "folder", "programs", "behind"),
    [
        (RUNNING, "/usr/bin", set(), []),
        # The sidecar is the old one yet, or has brought nothing yet.
        (STAGED, "/usr/bin", set(), [f"bin/{NEW}/fdbserver"]),
        (STAGED, "/usr/bin", {f"bin/{NEW}/fdbserver"}, [f"bin/{NEW}/fdbserver"]),
        (STAGED, BROUGHT, set(), [f"bin/{NEW}/fdbserver"]),
        (STAGED, BROUGHT, {f"bin/{NEW}/fdbserver"}, []),
        # On the way back it is the new one yet; after the restart it is the right one.
        (RUNNING, BROUGHT, {f"bin/{NEW}/fdbserver"}, [f"{OLD} instead of {NEW}"]),
        ({names.RUNNING_VERSION_KEY: NEW}, BROUGHT, {f"bin/{NEW}/fdbserver"}, []),
    ],
)
async def test_a_sidecar_of_the_right_version_is_waited_for(
    data: dict[str, str], folder: str, programs: set[str], behind: list[str]
) -> None:
    sidecar = Sidecar(folder=folder, programs=programs)
    assert await synchronize(sidecar, data, GROUP) == behind


def test_the_same_files_are_others_once_a_version_is_staged() -> None:
    assert files_hash(RUNNING, GROUP) != files_hash(STAGED, GROUP)


def group(version: str, running: str = OLD) -> FoundationDBProcessGroupSpec:
    wanted = Wanted(
        name="shop",
        namespace="prod",
        uid="u",
        spec=spec(version),
        running=Version.parse(running),
        tls=False,
        plain=True,
    )
    return wanted.group(ProcessGroupID.parse("log-1"))


def test_only_the_image_beside_fdbserver_changes_before_the_restart() -> None:
    now, staged = group(OLD), group(NEW)
    assert has_server_of(now, staged)
    assert with_programs_of(now, staged) == staged
    assert with_programs_of(staged, now) == now, "and back"
    after = group(NEW, running=NEW)
    assert not has_server_of(staged, after)
    assert with_programs_of(staged, after) == staged


@pytest.mark.parametrize(("now", "wanted"), [(OLD, NEW), (NEW, OLD)])
def test_for_other_programs_beside_it_nobody_is_replaced(now: str, wanted: str) -> None:
    said = why_replace(group(now), group(wanted), strategy="Replace", resources_too=True)
    assert said == ""


def _broken(it: GroupView) -> GroupView:
    return replace(it, conditions={Is.POD_FAILING: 0.0}) if it.id.number == 1 else it


def test_who_runs_is_not_replaced_for_a_sidecar_that_fails_in_an_upgrade() -> None:
    options = {"replacements": {"enabled": True}}
    view = cluster("s1 s2 s3", change=_broken, automationOptions=options)
    assert failures.to_replace(view)
    assert not failures.to_replace(replace(view, staging=True))
