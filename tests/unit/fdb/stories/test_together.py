"""Operators that act together: each says what is pending, and one acts for all when all are ready.

The others are played by what they write into the database.
"""

from __future__ import annotations

from typing import Any

from fakes.fdb_stories import Story, played, spec
from stateward.fdb.model import intents
from stateward.fdb.model.exclusions import ByAddress, ByLocality, of_instance
from stateward.fdb.model.intents import Beat, Intent, Intents, Whose
from stateward.fdb.model.locks import PREFIX
from stateward.kube.codec import Json

KNOB = {"general": {"customParameters": ["knob_disable_posix_kernel_aio=1"]}}
OTHER = Whose("dc2", "dc2-storage-1")


def together(mode: str = "global", **over: Any) -> Json:
    options = {"synchronizationMode": mode, **over}
    return spec(processGroupIDPrefix="dc1", automationOptions=options)


def told(it: Story) -> Intents:
    """Return all that is said in the database."""
    store = it.database.store
    return intents.read(PREFIX, store.span(*intents.span(PREFIX), store.version))


def said(it: Story, *, beats: bool = False) -> list[str]:
    """Return what is said under our name, as words."""
    found = told(it)
    names = [f"{intent} {one.group}" for intent, every in found.said.items() for one in every]
    names += [f"at {one.group}" for one in found.addresses]
    names += [f"acted {one.group}" for every in found.acted.values() for one in every]
    return sorted(names + ([f"there {one}" for one in found.beats] if beats else []))


def other(it: Story, *what: Intent, whose: Whose = OTHER, uid: str = "uid-2") -> None:
    """Have another operator say something of a group, and that it is there."""
    now = it.it.world.clock.now()
    rows = [(intents.intent_key(PREFIX, one, whose), intents.moment(now)) for one in what]
    beat = (intents.beat_key(PREFIX, whose.operator), intents.beat_value(Beat(int(now), uid)))
    it.database.store.write([*rows, beat])


def unsaid(it: Story, *what: Intent, whose: Whose = OTHER) -> None:
    it.database.store.write([(intents.intent_key(PREFIX, one, whose), None) for one in what])


def kills(it: Story) -> list[str]:
    return [one for one in it.watcher.commands if one.startswith("kill")]


def blockers(it: Story) -> str:
    return " ".join(one["message"] for one in it.status.get("blockers", ()))


def test_who_is_alone_waits_for_a_moment_and_acts() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        await it.rest(60)
        assert said(it, beats=True) == ["there dc1"]
        before, began = len(kills(it)), it.it.world.clock.now()
        it.change(processes=KNOB)
        await it.until("it acts", lambda: len(kills(it)) > before)
        assert it.it.world.clock.now() - began >= 30
        await it.reconciled()
        await it.rest(120)
        assert len(kills(it)) == before + 1
        assert said(it, beats=True) == ["there dc1"]
        assert it.status["synchronization"] == {"name": "dc1"}
        await it.at_rest()

    played(story)


def test_a_restart_waits_until_others_are_ready() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        before = len(kills(it))
        other(it, Intent.RESTART)
        it.change(processes=KNOB)
        await it.until("told", lambda: "ready: dc2 (dc2-storage-1)" in blockers(it))
        assert it.status["synchronization"]["waitingFor"] == ["dc2-storage-1"]
        for _ in range(4):
            other(it)  # it is there
            await it.rest(45)
        assert len(kills(it)) == before
        other(it, Intent.READY_FOR_RESTART)
        await it.until("it acts", lambda: len(kills(it)) > before)
        unsaid(it, Intent.RESTART, Intent.READY_FOR_RESTART)
        await it.reconciled()
        await it.rest(60)
        assert len(kills(it)) == before + 1
        assert said(it) == []

    played(story)


def test_who_is_gone_is_named_and_not_waited_for() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        before = len(kills(it))
        other(it, Intent.RESTART)
        it.change(processes=KNOB)
        await it.until("it acts", lambda: len(kills(it)) > before)
        await it.until("it is named", lambda: "nothing is heard" in blockers(it))
        (silent,) = [one for one in it.status["blockers"] if one["guard"] == "OperatorSilent"]
        assert silent["hint"].startswith("see whether they run")
        assert it.status["synchronization"] == {"name": "dc1", "silent": ["dc2"]}
        await it.reconciled()
        assert len(kills(it)) == before + 1
        told = it.condition("Progressing")
        assert (told["status"], told["reason"]) == ("False", "OperatorSilent")
        assert (
            "nothing is heard of other operators, and nobody waits for them: 'dc2'"
            in told["message"]
        )
        assert it.condition("Ready")["status"] == "True", "all that is ours is as asked"
        await it.at_rest()
        unsaid(it, Intent.RESTART)  # a person, or dc2 itself when it is back
        await it.until("told", lambda: it.condition("Progressing")["reason"] == "Reconciled")
        assert it.status["synchronization"] == {"name": "dc1"}

    played(story)


def test_data_leaves_those_of_all_with_one_command_and_they_are_included_with_one() -> None:
    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=True))
        other(it, Intent.REMOVAL, Intent.EXCLUSION, Intent.INCLUSION)
        mine = next(iter(it.groups("storage")))
        it.change(processGroupsToRemove=[mine])
        await it.until("told", lambda: "ready: dc2 (dc2-storage-1)" in blockers(it))
        assert excluded(it) == []
        other(it, Intent.READY_FOR_EXCLUSION)
        await it.until("excluded", lambda: bool(excluded(it)))
        assert excluded(it) == sorted([mine, "dc2-storage-1"])
        unsaid(it, Intent.EXCLUSION, Intent.READY_FOR_EXCLUSION)
        await it.until("ready", lambda: f"readyForInclusion {mine}" in said(it))
        other(it, Intent.READY_FOR_INCLUSION)
        while excluded(it):  # a database that was recovered a moment ago is left in peace
            other(it)
            await it.rest(45)
        unsaid(it, Intent.REMOVAL, Intent.INCLUSION, Intent.READY_FOR_INCLUSION)
        await it.reconciled()
        await it.rest(60)
        assert said(it) == []

    played(story)


def test_who_waits_names_nobody_for_whom_it_does_not() -> None:
    """Logs wait for logs: storage of another operator that is not ready does not hold them up."""

    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=True))
        other(it, Intent.REMOVAL, Intent.EXCLUSION)
        said = set[str]()
        it.change(processGroupsToRemove=[next(iter(it.groups("log")))])
        while not excluded(it):
            said |= {one["message"] for one in it.status.get("blockers", ())}
            other(it)
            await it.rest(1)
        assert "excluding waits: other operators may have something to say, too" in said
        assert not [one for one in said if "dc2" in one]
        unsaid(it, Intent.REMOVAL, Intent.EXCLUSION)
        await it.until("included", lambda: not excluded(it), 1200)
        await it.reconciled()

    played(story)


def test_room_for_data_is_not_held_for_an_operator_that_is_gone() -> None:
    """What it said of groups that shall go stays there for as long as they report."""

    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=True))
        staying = it.groups("storage")
        for one in staying:  # they report, as groups of another data center would
            other(it, Intent.REMOVAL, whose=Whose("dc2", one))
        it.change(processGroupsToRemove=[next(iter(staying))])
        await it.until("held", lambda: "zones" in blockers(it))
        await it.until("excluded", lambda: bool(excluded(it)), within=900)
        await it.reconciled()
        await it.until("gone", it.none_leaves)

    played(story)


def test_coordinators_change_though_another_operator_cannot_act() -> None:
    """The lock may be denied to it for days, while its groups are ready to be excluded."""

    async def story(it: Story) -> None:
        await it.create(together())
        kinds = {one.split("-")[1] for one in it.coordinators()}
        wanted = "log" if kinds == {"storage"} else "storage"
        other(it, Intent.EXCLUSION, Intent.READY_FOR_EXCLUSION)
        it.change(coordinatorSelection=[{"processClass": wanted, "priority": 1}])
        await it.until("held", lambda: "until data leaves" in blockers(it))
        for _ in range(60):
            other(it)  # it is there
            await it.rest(45)
        assert {one.split("-")[1] for one in it.coordinators()} == {wanted}
        unsaid(it, Intent.EXCLUSION, Intent.READY_FOR_EXCLUSION)
        await it.reconciled()

    played(story)


def test_an_address_that_another_operator_has_who_goes_keeps_nobody() -> None:
    """It stays on the list for the other one; ours would be included for ever, and never go."""

    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=False))
        mine = next(iter(it.groups("storage")))
        hosts = [one["ip"] for one in it.pods()[mine]["status"]["podIPs"]]
        other(it, Intent.REMOVAL)
        place = intents.addresses_key(PREFIX, OTHER), intents.addresses_value(hosts)
        it.database.store.write([place])
        it.change(processGroupsToRemove=[mine])
        await it.until("gone", lambda: mine not in it.groups(), within=7200)
        assert it.database.excluded
        assert it.database.excluded <= {*map(ByAddress, hosts)}
        it.database.include([*it.database.excluded])
        await it.reconciled()

    played(story)


def test_a_tester_that_a_person_excluded_goes_without_asking_others() -> None:
    """Testers take no part in what operators do together: nobody would ever agree."""

    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=True) | {"processCounts": {"test": 2}})
        mine = next(iter(it.groups("test")))
        it.database.exclude([of_instance(mine)])
        it.change(processGroupsToRemove=[mine])
        await it.until("gone", lambda: mine not in it.groups())
        assert excluded(it) == []
        await it.reconciled()

    played(story)


def test_who_stays_after_all_leaves_an_address_to_another_operator_that_empties_it() -> None:
    async def story(it: Story) -> None:
        await it.create(together(useLocalitiesForExclusion=False))
        mine = next(iter(it.groups("storage")))
        hosts = [one["ip"] for one in it.pods()[mine]["status"]["podIPs"]]
        place = intents.addresses_key(PREFIX, OTHER), intents.addresses_value(hosts)
        it.change(processGroupsToRemove=[mine], buggify={"blockRemoval": ["*"]})
        await it.until("excluded", lambda: bool(it.database.excluded), within=900)
        barred = {*it.database.excluded}
        other(it, Intent.REMOVAL)
        it.database.store.write([place])
        kept = {"cancelReplacementsForProcessGroups": [mine]}
        it.change(processGroupsToRemove=[], automationOptions=kept)
        for _ in range(60):
            other(it)  # it is there
            await it.rest(45)
        assert it.database.excluded == barred
        unsaid(it, Intent.REMOVAL)
        await it.until("included", lambda: not it.database.excluded, within=900)

    played(story)


def excluded(it: Story) -> list[str]:
    """Return which groups are on the database's list."""
    return sorted(one.value for one in it.database.excluded if isinstance(one, ByLocality))


def test_where_operators_act_alone_nothing_is_said() -> None:
    async def story(it: Story) -> None:
        await it.create(together("local"))
        it.change(processes=KNOB)
        await it.reconciled()
        assert said(it, beats=True) == []
        assert "synchronization" not in it.status

    played(story)


def test_who_acts_alone_again_leaves_nothing_that_others_would_wait_for() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        other(it, Intent.RESTART)
        it.change(processes=KNOB)
        await it.until("told", lambda: "ready: dc2 (dc2-storage-1)" in blockers(it))
        it.change(automationOptions={"synchronizationMode": "local"})
        await it.reconciled()
        assert said(it, beats=True) == ["pendingForRestart dc2-storage-1", "there dc2"]
        assert "synchronization" not in it.status

    played(story)


def test_another_cluster_under_our_name_is_told_to_a_person() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        before = len(kills(it))
        other(it, whose=Whose("dc1", "x"), uid="another")
        it.change(processes=KNOB)
        await it.until("told", lambda: "another cluster spoke as 'dc1'" in blockers(it))
        assert any(one["reason"] == "PrefixTaken" for one in it.status["conditions"])
        assert len(kills(it)) == before
        await it.reconciled()  # it says nothing any more
        assert len(kills(it)) == before + 1

    played(story)


def test_another_prefix_takes_along_what_was_said() -> None:
    async def story(it: Story) -> None:
        await it.create(together())
        other(it, Intent.RESTART)
        it.change(processes=KNOB)
        await it.until("said", lambda: any("dc1-log" in one for one in said(it)))
        it.change(processGroupIDPrefix="dc9")
        await it.until("moved", lambda: "there dc9" in said(it, beats=True))
        found = told(it)
        names = {one.operator for every in found.said.values() for one in every}
        assert names == {"dc2", "dc9"}
        assert "dc1" not in found.beats

    played(story)
