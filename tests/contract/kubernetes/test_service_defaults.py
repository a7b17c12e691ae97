"""Services: what nobody said, what the server decides, and what makes no sense."""

from __future__ import annotations

from typing import Any, Final

import pytest

from contract.kubernetes.shapes import LABELS, thing
from contract.kubernetes.wire import Wire

WEB: Final = [{"port": 80}]
PORT: Final = {"port": 80, "protocol": "TCP", "targetPort": 80}
COMMON: Final = {
    "internalTrafficPolicy": "Cluster",
    "ipFamilies": ["IPv4"],
    "ipFamilyPolicy": "SingleStack",
    "ports": [PORT],
    "sessionAffinity": "None",
    "type": "ClusterIP",
}
HEADLESS: Final = {"clusterIP": "None", "clusterIPs": ["None"]}
ON_NODES: Final = {"externalTrafficPolicy": "Cluster", "type": "NodePort"}
CASES: Final[list[tuple[str, Any, Any]]] = [
    ("plain", {"ports": WEB, "selector": LABELS}, COMMON | {"selector": LABELS}),
    (
        "headless",
        {"clusterIP": "None", "ports": WEB, "selector": LABELS},
        COMMON | HEADLESS | {"selector": LABELS},
    ),
    (
        "headless, of no pods",
        {"clusterIP": "None", "ports": WEB},
        COMMON | HEADLESS | {"ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "RequireDualStack"},
    ),
    (
        "another name",
        {"type": "ExternalName", "externalName": "x.example"},
        {"type": "ExternalName", "externalName": "x.example", "sessionAffinity": "None"},
    ),
    ("on nodes", {"type": "NodePort", "ports": WEB}, COMMON | ON_NODES),
    (
        "balanced",
        {"type": "LoadBalancer", "ports": WEB},
        COMMON | ON_NODES | {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": True},
    ),
    (
        "with affinity",
        {"sessionAffinity": "ClientIP", "ports": WEB},
        COMMON
        | {
            "sessionAffinity": "ClientIP",
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
        },
    ),
    (
        "with what belongs to affinity, and none",
        {
            "sessionAffinity": "None",
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
            "ports": WEB,
        },
        COMMON,
    ),
    (
        "a named port",
        {"ports": [{"port": 53, "protocol": "UDP", "targetPort": "dns"}]},
        COMMON | {"ports": [{"port": 53, "protocol": "UDP", "targetPort": "dns"}]},
    ),
]


@pytest.mark.parametrize(("said", "stored"), [it[1:] for it in CASES], ids=[it[0] for it in CASES])
async def test_a_service_as_it_is_stored(wire: Wire, said: Any, stored: Any) -> None:
    made = (await wire.post("services", thing(spec=said))).made()

    spec = made["spec"]
    if "clusterIP" not in stored and said.get("type") != "ExternalName":
        assert spec["clusterIPs"] == [spec["clusterIP"]]
        assert spec.pop("clusterIP").count(".") == 3
        del spec["clusterIPs"]
    for port in spec.get("ports", ()):
        assert 30_000 <= port.pop("nodePort", 30_000) <= 32_767
    assert spec == stored
    assert made["status"] == {"loadBalancer": {}}


# ------------------------------------------------------------------ what stays
ADDRESS: Final = {"clusterIP": "10.0.0.250", "clusterIPs": ["10.0.0.250"]}


@pytest.mark.parametrize("address", [ADDRESS, HEADLESS], ids=["another", "none"])
async def test_an_address_stays(wire: Wire, address: Any) -> None:
    (await wire.post("services", thing(spec={"ports": WEB}))).made()

    answer = await wire.patch("services/a", {"spec": address})

    answer.refused(
        422, "Invalid", "FieldValueInvalid spec.clusterIPs[0]", says="may not change once set"
    )


async def test_who_says_no_address_keeps_it(wire: Wire) -> None:
    made = (await wire.post("services", thing(spec={"ports": WEB}))).made()

    kept = (await wire.patch("services/a", {"spec": {"clusterIP": None, "clusterIPs": None}})).ok()

    assert kept["spec.clusterIP"] == made["spec.clusterIP"]


async def test_another_name_needs_no_address(wire: Wire) -> None:
    (await wire.post("services", thing(spec={"ports": WEB}))).made()

    changed = (
        await wire.patch(
            "services/a", {"spec": {"type": "ExternalName", "externalName": "x.example"}}
        )
    ).ok()

    assert sorted(changed["spec"]) == ["externalName", "ports", "sessionAffinity", "type"]


async def test_who_leaves_the_nodes_gives_the_port_back(wire: Wire) -> None:
    (await wire.post("services", thing(spec={"type": "NodePort", "ports": WEB}))).made()

    changed = (await wire.patch("services/a", {"spec": {"type": "ClusterIP"}})).ok()

    assert changed["spec.ports"] == [PORT]
    assert changed["spec.externalTrafficPolicy"] is None


# ------------------------------------------------------------------ what makes no sense
def ports(*some: Any, **spec: Any) -> Any:
    return {"ports": list(some), **spec}


WRONG: Final[list[tuple[str, Any, str]]] = [
    ("no ports", {}, "Required spec.ports"),
    ("type", ports({"port": 1}, type="Any"), "NotSupported spec.type"),
    ("affinity", ports({"port": 1}, sessionAffinity="Any"), "NotSupported spec.sessionAffinity"),
    ("port 0", ports({"port": 0, "targetPort": 1}), "Invalid spec.ports[0].port"),
    ("a port too large", ports({"port": 70000, "targetPort": 1}), "Invalid spec.ports[0].port"),
    (
        "a target too large",
        ports({"port": 1, "targetPort": 70000}),
        "Invalid spec.ports[0].targetPort",
    ),
    ("protocol", ports({"port": 1, "protocol": "X"}), "NotSupported spec.ports[0].protocol"),
    (
        "a name twice",
        ports({"port": 1, "name": "a"}, {"port": 2, "name": "a"}),
        "Duplicate spec.ports[1].name",
    ),
    (
        "a port twice",
        ports({"port": 1, "name": "a"}, {"port": 1, "name": "b"}),
        "Duplicate spec.ports[1]",
    ),
    ("no address", ports({"port": 1}, clusterIP="nonsense"), "Invalid spec.clusterIPs[0]"),
    ("no other name", {"type": "ExternalName"}, "Required spec.externalName"),
    (
        "a port on nodes that are not asked",
        ports({"port": 1, "nodePort": 30100}),
        "Forbidden spec.ports[0].nodePort",
    ),
    ("an odd selector", ports({"port": 1}, selector={"a b": "c"}), "Invalid spec.selector"),
    (
        "balanced without an address",
        ports({"port": 1}, type="LoadBalancer", clusterIP="None"),
        "Invalid spec.clusterIPs[0]",
    ),
]


@pytest.mark.parametrize(("spec", "cause"), [it[1:] for it in WRONG], ids=[it[0] for it in WRONG])
async def test_what_makes_no_sense(wire: Wire, spec: Any, cause: str) -> None:
    answer = await wire.post("services", thing(spec=spec))

    answer.refused(422, "Invalid", f"FieldValue{cause}", says='Service "a" is invalid: ')


@pytest.mark.differs(
    "take pod addresses from EndpointSlices, which may therefore hold loopback addresses"
)
async def test_no_endpoint_is_on_this_machine(wire: Wire) -> None:
    body = thing(addressType="IPv4", endpoints=[{"addresses": ["127.0.0.1"]}])

    answer = await wire.post("endpointslices", body)

    answer.refused(
        422,
        "Invalid",
        "FieldValueInvalid endpoints[0].addresses[0]",
        says="may not be in the loopback range",
    )
