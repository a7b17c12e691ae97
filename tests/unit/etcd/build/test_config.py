"""The variables that members start with: written, read back, and spoilt by others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.etcd.build.config import CLUSTER, FORCE, STATE, TOKEN, config_map, config_of
from stateward.etcd.model.view import Config
from unit.etcd.build.examples import MINIMAL, cluster

A, B = ("tiny-0", "https://10.0.0.1:2380"), ("tiny-1", "https://[fd00::1]:2380")

members = st.tuples(
    st.from_regex(r"[a-z][a-z0-9-]{0,20}-[0-9]{1,3}", fullmatch=True),
    st.from_regex(r"https://[a-z0-9.:\[\]-]{1,40}:2380", fullmatch=True),
)
configs = st.builds(
    Config,
    st.lists(members, max_size=7).map(tuple),
    existing=st.booleans(),
    force_new_cluster=st.booleans(),
)


@given(configs)
def test_what_is_written_is_read_back(config: Config) -> None:
    assert config_of(config_map(cluster(MINIMAL), config)["data"]) == config


def test_the_variables_are_those_that_etcd_reads() -> None:
    made = config_map(cluster(MINIMAL), Config((A, B), existing=False))
    assert made["metadata"]["name"] == "tiny-cluster-state"
    assert made["data"] == {
        CLUSTER: "tiny-0=https://10.0.0.1:2380,tiny-1=https://[fd00::1]:2380",
        STATE: "new",
        TOKEN: "shop-tiny-11111111-0000-4000-8000-000000000001",
        FORCE: "false",
    }


GOOD = {CLUSTER: "a=https://b:1", STATE: "existing", FORCE: "true", "OTHER": "?"}


def test_what_others_add_is_not_ours_to_read() -> None:
    expected = Config((("a", "https://b:1"),), existing=True, force_new_cluster=True)
    assert config_of(GOOD) == expected


def test_without_a_word_about_force_there_is_none() -> None:
    config = config_of({name: it for name, it in GOOD.items() if name != FORCE})
    assert config is not None
    assert config.force_new_cluster is False


@pytest.mark.parametrize(
    "spoilt",
    [
        {STATE: "old"},
        {STATE: ""},
        {FORCE: "yes"},
        {FORCE: ""},
        {CLUSTER: "a"},
        {CLUSTER: "a="},
        {CLUSTER: "=https://b:1"},
        {CLUSTER: "a=https://b:1,"},
        {CLUSTER: "https://b:1"},
        {CLUSTER: " "},
    ],
)
def test_what_cannot_be_read_is_nothing(spoilt: dict[str, str]) -> None:
    assert config_of(GOOD | spoilt) is None


@pytest.mark.parametrize("missing", [STATE, CLUSTER])
def test_what_is_not_said_is_nothing(missing: str) -> None:
    assert config_of({name: it for name, it in GOOD.items() if name != missing}) is None


@given(st.dictionaries(st.sampled_from([CLUSTER, STATE, FORCE, TOKEN]), st.text()))
def test_any_text_is_read_or_is_nothing(data: dict[str, str]) -> None:
    read = config_of(data)
    if read is not None:
        assert config_of(config_map(cluster(MINIMAL), read)["data"]) == read
