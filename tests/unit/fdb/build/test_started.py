"""How processes are started: what monitors are given, what they make of it, and what we expect.

The monitors here are the stand-in's own; what they would start is what we say that they do.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.fdb_compatible import COMPATIBLE
from operators.fdb_manifests import spec
from stateward.emulate.keepers import sidecar
from stateward.emulate.keepers.classic import commands
from stateward.emulate.keepers.classic import conf as confs
from stateward.emulate.keepers.split import substitutions as split
from stateward.emulate.keepers.unified import config as configs
from stateward.emulate.keepers.unified import judgement
from stateward.fdb.api.kind import FoundationDBProcessGroup
from stateward.fdb.build.config_map import conf_text, config_map
from stateward.fdb.build.pod import pod
from stateward.fdb.build.servers.commandlines import Untold, expected, same
from stateward.fdb.build.servers.environment import environment
from stateward.fdb.build.wanted import Wanted
from stateward.fdb.model.classes import ProcessClass
from stateward.fdb.model.names import SIDECAR_CONTAINER
from stateward.kube.codec import Json
from stateward.kube.objects.pods import Pod
from unit.fdb.build.clusters import container, group, running, wanted

RACK = {"name": "foundationdb", "env": [{"name": "RACK", "value": "r7"}]}
#: With a variable that some manifests use; whoever mounts it is not their business.
WITH_RACK: Json = {"general": {"podTemplate": {"spec": {"containers": [RACK]}}}}


def text_of(of: Wanted, one: FoundationDBProcessGroup) -> str:
    asked = one.spec
    cls = ProcessClass(asked.process_class)
    document = config_map(of, [(cls, asked.servers_per_pod, asked.image_type)])
    found = conf_text(document["data"], asked)
    assert found is not None
    return found


def started(of: Wanted, one: FoundationDBProcessGroup, there: Pod) -> tuple[tuple[str, ...], ...]:
    """Return the arguments that the monitor of a pod starts its processes with."""
    text, values = text_of(of, one), environment(one, there)
    if one.spec.image_type == "unified":
        return launched(text, values, one.spec.servers_per_pod)
    return monitored(text, pod(one), values)


def launched(text: str, values: dict[str, str], servers: int) -> tuple[tuple[str, ...], ...]:
    house = judgement.House("7.3.63", "/usr/bin/fdbserver", "/shared", servers, values)
    found = judgement.judge(text.encode(), house, lambda _: True)
    assert isinstance(found, judgement.Accepted)
    if not found.config.runs:
        return ()
    return tuple(configs.arguments(found.config, it, values) for it in range(1, servers + 1))


def monitored(text: str, document: Json, values: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    words = container(document, SIDECAR_CONTAINER)["args"]
    asked = sidecar._parser().parse_args(words)  # it must understand every word
    version = asked.main_container_version
    bare = {name: it.strip("[]") for name, it in values.items()}  # as the node told the sidecar
    wishes = split.Wishes(
        version, version, "/var/dynamic-conf", asked.substitute_variable, asked.public_ip_family
    )
    conf = confs.parse(split.substituted(text, split.substitutions(bare, wishes)))
    found = [commands.command_of(conf, it, 1) for it in conf.processes()]
    assert all(it.argv[0] == "/usr/bin/fdbserver" and not it.problem for it in found)
    assert not any(it.kills for it in found)
    return tuple(it.argv[1:] for it in found)


def made(
    said: Json, name: str = "storage-1", **how: Any
) -> tuple[Wanted, FoundationDBProcessGroup]:
    of = wanted(said, **how)
    return of, group(of, name)


def words(
    said: Json, name: str = "storage-1", ips: tuple[str, ...] = ("10.1.0.7",), **how: Any
) -> Any:
    """Return the arguments of the processes of a pod by name, one object for each process."""
    of, one = made(said, name, **how)
    found = started(of, one, running(one, ips, public_ip="10.9.0.1"))
    values = environment(one, running(one, ips, public_ip="10.9.0.1"))
    assert found == expected(
        text_of(of, one), one.spec.image_type, one.spec.servers_per_pod, values
    )
    assert all(same(it, " ".join(("/some/fdbserver", *it))) for it in found)
    return [read(it) for it in found]


def read(found: tuple[str, ...]) -> dict[str, str]:
    """Return arguments by name, whether they are one word each or two."""
    if all("=" in it for it in found):
        pairs = [it.removeprefix("--").partition("=")[::2] for it in found]
    else:
        pairs = [(it.removeprefix("--"), found[n + 1]) for n, it in enumerate(found) if n % 2 == 0]
    return dict(pairs)


# ------------------------------------------------------------------ a first picture of each layout
#: In the order in which the compatible operator tells them, which keeps people's eyes at home.
ORDER = (
    "cluster_file seed_cluster_file public_address class logdir loggroup datadir"
    " locality_process_id locality_instance_id locality_machineid locality_zoneid listen_address"
    " tls_verify_peers knob_a locality_dcid locality_data_hall locality_dns_name"
)


def test_arguments_have_an_order() -> None:
    said = spec(
        dataCenter="dc1",
        dataHall="h1",
        mainContainer={"peerVerificationRules": "S.CN=a"},
        processes={"general": {"customParameters": ["knob_a=1"]}},
    )
    (found,) = words(said)
    assert " ".join(found) == ORDER


def test_a_storage_process_of_a_unified_image() -> None:
    (found,) = words(spec(dataCenter="dc1", dataHall="h1"))
    assert found == {
        "cluster_file": "/var/fdb/data/fdb.cluster",
        "seed_cluster_file": "/var/dynamic-conf/fdb.cluster",
        "public_address": "10.1.0.7:4501",
        "class": "storage",
        "logdir": "/var/log/fdb-trace-logs",
        "loggroup": "shop",
        "datadir": "/var/fdb/data/1",
        "locality_process_id": "storage-1-1",
        "locality_instance_id": "storage-1",
        "locality_machineid": "node-a",
        "locality_zoneid": "node-a",
        "listen_address": "10.1.0.7:4501",
        "locality_dcid": "dc1",
        "locality_data_hall": "h1",
        "locality_dns_name": "shop-storage-1.shop.prod.svc.cluster.local",
    }


def test_the_same_of_a_split_image_has_its_folder_for_itself() -> None:
    (unified,), (split_,) = (words(spec(imageType=it)) for it in ("unified", "split"))
    del unified["locality_process_id"]
    assert split_ == unified | {"datadir": "/var/fdb/data"}


@pytest.mark.parametrize("layout", ["unified", "split"])
def test_two_processes_of_a_pod_differ_in_port_folder_and_name(layout: str) -> None:
    first, second = words(spec(imageType=layout, storageServersPerPod=2))
    differs = {name: (first[name], second[name]) for name in first if first[name] != second[name]}
    assert differs == {
        "public_address": ("10.1.0.7:4501", "10.1.0.7:4503"),
        "listen_address": ("10.1.0.7:4501", "10.1.0.7:4503"),
        "datadir": ("/var/fdb/data/1", "/var/fdb/data/2"),
        "locality_process_id": ("storage-1-1", "storage-1-2"),
    }


# ------------------------------------------------------------------ addresses
BOTH = ("10.1.0.7", "fd00::7")
SERVICE = {"routing": {"publicIPSource": "service"}}
#: What is asked for, how it listens; then the address that is told, and the one that is listened on.
ADDRESSES: dict[str, tuple[Json, Json, str, str]] = {
    "plain": ({}, {}, "10.1.0.7:4501", "10.1.0.7:4501"),
    "TLS": ({}, {"tls": True, "plain": False}, "10.1.0.7:4500:tls", "10.1.0.7:4500:tls"),
    "both, TLS first": (
        {}, {"tls": True}, "10.1.0.7:4500:tls,10.1.0.7:4501", "10.1.0.7:4500:tls,10.1.0.7:4501"
    ),
    "IPv4 of two": ({"routing": {"podIPFamily": 4}}, {}, "10.1.0.7:4501", "10.1.0.7:4501"),
    "IPv6 of two": ({"routing": {"podIPFamily": 6}}, {}, "[fd00::7]:4501", "[fd00::7]:4501"),
    "IPv6, both": (
        {"routing": {"podIPFamily": 6}}, {"tls": True},
        "[fd00::7]:4500:tls,[fd00::7]:4501", "[fd00::7]:4500:tls,[fd00::7]:4501",
    ),
    "a service's": (SERVICE, {}, "10.9.0.1:4501", "10.1.0.7:4501"),
}  # fmt: skip


@pytest.mark.parametrize("layout", ["unified", "split"])
@pytest.mark.parametrize("name", ADDRESSES)
def test_where_a_process_is(name: str, layout: str) -> None:
    said, how, public, own = ADDRESSES[name]
    (found,) = words(spec(imageType=layout, **said), ips=BOTH, **how)
    assert (found["public_address"], found["listen_address"]) == (public, own)


# ------------------------------------------------------------------ zones
ZONES: dict[str, tuple[Json, str, str]] = {
    "by default": ({}, "node-a", "node-a"),
    "every pod": ({"key": "foundationdb.org/none"}, "shop-storage-1", "shop-storage-1"),
    "a cluster": ({"key": "foundationdb.org/kubernetes-cluster", "value": "kc1"}, "kc1", "node-a"),
    "a field": ({"key": "a.b/c", "valueFrom": "metadata.namespace"}, "prod", "node-a"),
    "a variable": ({"key": "a.b/rack", "valueFrom": "$RACK"}, "r7", "node-a"),
}


@pytest.mark.parametrize("layout", ["unified", "split"])
@pytest.mark.parametrize("name", ZONES)
def test_zone_and_machine(name: str, layout: str) -> None:
    domain, zone, machine = ZONES[name]
    (found,) = words(spec(imageType=layout, faultDomain=domain, processes=WITH_RACK))
    assert (found["locality_zoneid"], found["locality_machineid"]) == (zone, machine)


def test_a_zone_that_only_the_monitor_knows() -> None:
    of, one = made(spec(faultDomain={"key": "a.b/rack", "valueFrom": "$RACK"}))
    text, there = text_of(of, one), running(one)
    with pytest.raises(Untold, match="RACK"):
        expected(text, "unified", 1, environment(one, there))
    told = running(one, told=json.dumps({"RACK": "r9"}))
    (found,) = expected(text, "unified", 1, environment(one, told))
    assert "--locality_zoneid=r9" in found


def test_what_is_no_answer_of_a_monitor_is_passed_over() -> None:
    _, one = made(spec())
    plain = environment(one, running(one))
    assert environment(one, running(one, told="[1")) == plain


# ------------------------------------------------------------------ what users say
@pytest.mark.parametrize("layout", ["unified", "split"])
def test_parameters_of_users(layout: str) -> None:
    said = spec(
        imageType=layout,
        dataHall="h1",
        mainContainer={"peerVerificationRules": "S.CN=a.example.org,Check.Valid=0"},
        processes={
            "general": {
                **WITH_RACK["general"],
                "customParameters": [
                    "knob_a=1", "locality_rack=$RACK/$FDB_POD_IP.x", "locality-data-hall=mine",
                    "knob_b = cost $5", "trace_format=json",
                ],
            }
        },
    )  # fmt: skip
    (found,) = words(said)
    assert found["knob_a"] == "1"
    assert found["locality_rack"] == "r7/10.1.0.7.x"
    assert found["locality-data-hall"] == "mine"
    assert "locality_data_hall" not in found
    assert found["knob_b"] == "cost $5"
    assert found["tls_verify_peers"] == "S.CN=a.example.org,Check.Valid=0"


# ------------------------------------------------------------------ nothing shall run
def test_nothing_runs_before_there_is_a_database() -> None:
    for layout in ("unified", "split"):
        assert words(spec(imageType=layout), connection=None) == []
    of, one = made(spec(imageType="split"), connection=None)
    assert text_of(of, one) == ""
    of, one = made(spec(), connection=None)
    assert json.loads(text_of(of, one))["runServers"] is False


def test_nothing_runs_where_that_is_asked_for() -> None:
    faults = {"emptyMonitorConf": True}
    for layout in ("unified", "split"):
        assert words(spec(imageType=layout, buggify=faults)) == []
    of, one = made(spec(imageType="split", buggify=faults))
    assert confs.parse(text_of(of, one)).sections.keys() == {"general"}


def test_what_runs_says_nothing_of_it() -> None:
    of, one = made(spec())
    found = json.loads(text_of(of, one))
    assert found["version"] == "7.3.63"
    assert "runServers" not in found


# ------------------------------------------------------------------ comparing
@pytest.mark.parametrize(
    ("told", "is_same"),
    [
        ("/usr/bin/fdbserver --class=log --datadir=/d", True),
        ("/var/x/fdbserver --datadir /d --class log", True),
        ("fdbserver --datadir=/d", False),
        ("fdbserver --class=log --datadir=/d --knob_a=1", False),
        ("fdbserver --class=storage --datadir=/d", False),
        ("fdbserver", False),
        ("", False),
    ],
)
def test_a_command_line_that_is_told(told: str, is_same: bool) -> None:
    assert same(("--class=log", "--datadir=/d"), told) is is_same


def test_a_value_may_have_blanks_and_equals_in_it() -> None:
    assert same(("--a", "b = c d", "--e", ""), "x --e  --a b = c d")
    assert not same(("--a", "b = c"), "x --a b = d")


# ------------------------------------------------------------------ laws
SPECS = st.fixed_dictionaries(
    {"imageType": st.sampled_from(["unified", "split"])},
    optional={
        "storageServersPerPod": st.integers(1, 3),
        "dataCenter": st.sampled_from(["dc1", "dc2"]),
        "trustedCAs": st.just(["PEM"]),
        "logGroup": st.sampled_from(["a", "b-c"]),
        "processGroupIDPrefix": st.sampled_from(["dc1", "a-b"]),
        "faultDomain": st.sampled_from([it[0] for it in ZONES.values()]),
        "routing": st.fixed_dictionaries(
            {},
            optional={
                "podIPFamily": st.sampled_from([4, 6]),
                "publicIPSource": st.sampled_from(["pod", "service"]),
                "useDNSInClusterFile": st.booleans(),
            },
        ),
        "sidecarVariables": st.just(["RACK"]),
    },
)
LISTENING = st.sampled_from([(True, True), (True, False), (False, True)])
PARAMETERS = st.lists(
    st.sampled_from(
        ["knob_a=$RACK-1", "locality_zoneid=x", "b=$FDB_POD_IP", "loggroup=z", "c=$1 x"]
    ),
    unique=True,
)


@given(SPECS, LISTENING, PARAMETERS)
@settings(max_examples=150, deadline=None)
def test_what_monitors_start_is_what_we_expect(
    said: Json, listening: tuple[bool, bool], parameters: list[str]
) -> None:
    processes = {"general": {**WITH_RACK["general"], "customParameters": parameters}}
    tls, plain = listening
    ips = ("fd00::7",) if said.get("routing", {}).get("podIPFamily") == 6 else BOTH
    of, one = made(spec(**said, processes=processes), tls=tls, plain=plain)
    there = running(one, ips, public_ip=ips[0])
    found = started(of, one, there)
    asked = one.spec
    values = environment(one, there)
    assert found == expected(text_of(of, one), asked.image_type, asked.servers_per_pod, values)
    assert len(found) == asked.servers_per_pod
    assert all(same(it, f"fdbserver {' '.join(it)}") for it in found)


@pytest.mark.parametrize("title", COMPATIBLE)
@pytest.mark.parametrize("name", ["storage-1", "log-2", "stateless-3", "cluster_controller-1"])
def test_every_manifest_starts_what_we_expect(title: str, name: str) -> None:
    said = dict(COMPATIBLE[title])
    of, one = made(said, name)
    there = running(one, public_ip="10.9.0.1")
    values = environment(one, there) | {"RACK": "r7"}
    text, asked = text_of(of, one), one.spec
    found = expected(text, asked.image_type, asked.servers_per_pod, values)
    assert len(found) == asked.servers_per_pod
    if asked.image_type == "split":
        assert found == monitored(text, pod(one), values)
