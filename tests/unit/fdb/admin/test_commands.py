"""How commands are written, and that no word of ours can become another command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.fdb.admin import commands
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.configuration import Configuration, DataCenter, Region

ONE, TWO = Address("10.0.0.1", 4501), Address("::1", 4500, tls=True)


def test_regions_keep_their_quotes() -> None:
    """fdbcli eats quotes that are not escaped, stores what is left and calls that a success."""
    region = Region(
        (DataCenter("dc1", 1), DataCenter("dc2", 0, satellite=True)), 2, "one_satellite_double"
    )
    text = commands.configure(Configuration(regions=(region,), usable_regions=2))
    assert text.endswith(
        r"regions=[{\"datacenters\":[{\"id\":\"dc1\",\"priority\":1},"
        r"{\"id\":\"dc2\",\"priority\":0,\"satellite\":1}],"
        r"\"satellite_logs\":2,\"satellite_redundancy_mode\":\"one_satellite_double\"}]"
    )


def test_what_goes_with_an_engine() -> None:
    wish = Configuration(
        storage_engine="ssd-redwood-1",
        storage_migration_type="gradual",
        perpetual_storage_wiggle=1,
        perpetual_storage_wiggle_locality="zoneid:z1",
        perpetual_storage_wiggle_engine="none",
        log_spill=2,
        commit_proxies=3,
    )
    assert commands.configure(wish, force=True) == (
        "configure FORCE double ssd-redwood-1 usable_regions=1 commit_proxies=3 log_spill:=2 regions=[]"
        " storage_migration_type=gradual perpetual_storage_wiggle=1"
        " perpetual_storage_wiggle_locality=zoneid:z1 perpetual_storage_wiggle_engine=none"
    )


def test_addresses_as_each_command_wants_them() -> None:
    assert commands.coordinators([ONE, TWO]) == "coordinators 10.0.0.1:4501 [::1]:4500:tls"
    assert commands.kill([TWO]) == "kill; kill [::1]:4500; sleep 5"
    assert commands.include([exclusions.parse("::1")]) == "include ::1"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: commands.include([]), "at least one must be named"),
        (lambda: commands.exclude([]), "at least one must be named"),
        (lambda: commands.kill([]), "at least one process must be named"),
        (lambda: commands.coordinators([]), "must be at least one, each another"),
        (lambda: commands.coordinators([ONE, ONE]), "must be at least one, each another"),
        (lambda: commands.maintenance("z 1", 5), "must have no spaces"),
        (lambda: commands.maintenance("z;kill", 5), "must have no spaces"),
        (lambda: commands.maintenance("z1", 0), "at least a second"),
        (lambda: commands.configure(Configuration(redundancy="double;x")), "must be one word"),
        (lambda: commands.configure(Configuration(), new=True, force=True), "must not be forced"),
        (
            lambda: commands.configure(Configuration(perpetual_storage_wiggle_locality="a b")),
            "must be KEY:VALUE",
        ),
    ],
)
def test_what_cannot_be_typed(make, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


@given(st.text(max_size=20))
def test_no_word_is_two_commands(text: str) -> None:
    try:
        command = commands.maintenance(text, 5)
    except ValueError:
        return
    assert command.split() == ["maintenance", "on", text, "5"]
    assert ";" not in command
