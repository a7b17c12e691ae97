"""Several changes at once, each of which is told elsewhere alone."""

from __future__ import annotations

from fakes.fdb_stories import Story, played, spec
from stateward.kube.codec import Json
from unit.fdb.stories.test_upgrading import NEW, OLD, images, kills, running


def tagged(*configs: Json) -> Json:
    return {name: {"imageConfigs": [*configs]} for name in ("mainContainer", "sidecarContainer")}


def test_a_tag_that_changes_with_the_version_takes_nobody_out_of_the_database() -> None:
    async def story(it: Story) -> None:
        await it.create(spec(version=OLD, **tagged({"tag": OLD})))
        uids = it.uids()
        it.change(version=NEW, **tagged({"tag": NEW}))
        await it.until("told", lambda: it.condition("Ready")["reason"] == "SpecInvalid")
        assert "spec.mainContainer.imageConfigs" in it.condition("Ready")["message"]
        await it.rest(600)
        assert it.uids() == uids
        assert running(it) == {OLD}
        both = [{"version": OLD, "tag": OLD}, {"version": NEW, "tag": NEW}]
        it.change(**tagged(*both))
        await it.reconciled()
        assert running(it) == images(it) == {NEW}
        assert len(kills(it)) == 1
        await it.until("gone", it.none_leaves)

    played(story)
