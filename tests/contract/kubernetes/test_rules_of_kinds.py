"""What makes no sense in objects of Kubernetes' own kinds, and where it is said."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.bodies import (
    claim,
    cron_job,
    deployment,
    job,
    named,
    service,
    stateful_set,
)
from contract.kubernetes.wire import Wire

CODES = {"operator": "In", "values": [1]}
FAILS = {"action": "FailJob", "onExitCodes": CODES}
GROUP = "rbac.authorization.k8s.io"
ROLE = {"apiGroup": GROUP, "kind": "Role", "name": "x"}
CLAIM: Any = claim()["spec"]


async def refused(wire: Wire, kind: str, body: Any, *causes: str) -> None:
    (await wire.post(kind, body, dryRun="All")).refused(422, "Invalid", *causes)


# ------------------------------------------------------------------ what is made after a template
@pytest.mark.since("1.35")
@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        ({}, ["FieldValueRequired accessModes", "FieldValueRequired resources[storage]"]),
        (CLAIM | {"accessModes": ["Odd"]}, ["FieldValueNotSupported accessModes"]),
        (
            CLAIM | {"resources": {"requests": {"storage": "0"}}},
            ["FieldValueInvalid resources[storage]"],
        ),
        (CLAIM | {"volumeMode": "Odd"}, ["FieldValueNotSupported volumeMode"]),
        (CLAIM | {"storageClassName": "A_"}, ["FieldValueInvalid storageClassName"]),
    ],
    ids=str,
)
async def test_what_claims_are_made_after(wire: Wire, spec: Any, causes: list[str]) -> None:
    body = stateful_set(volumeClaimTemplates=[named("data", spec=spec)])

    where = "spec.volumeClaimTemplates[0].spec."
    await refused(wire, "statefulsets", body, *(it.replace(" ", f" {where}") for it in causes))


@pytest.mark.since("1.35")
async def test_names_of_what_a_stateful_set_has(wire: Wire) -> None:
    molds = [named("A_", spec=CLAIM)]
    where = "spec.template.spec.volumes[0].name"

    body = stateful_set(volumeClaimTemplates=molds)
    await refused(wire, "statefulsets", body, f"FieldValueInvalid {where}")
    body = stateful_set(serviceName="A_")
    await refused(wire, "statefulsets", body, "FieldValueInvalid spec.serviceName")
    (await wire.post("statefulsets", stateful_set(serviceName=""))).made()


@pytest.mark.parametrize("field", ["labels", "annotations"])
@pytest.mark.parametrize("kind", ["deployments", "cronjobs"])
async def test_what_pods_of_a_template_are_called(wire: Wire, kind: str, field: str) -> None:
    body = {"deployments": deployment, "cronjobs": cron_job}[kind]()
    path, spec = "spec", body["spec"]
    if kind == "cronjobs":
        path, spec = "spec.jobTemplate.spec", spec["jobTemplate"]["spec"]
    meta = spec["template"].get("metadata", {})
    spec["template"] = {
        **spec["template"],
        "metadata": meta | {field: meta.get(field, {}) | {"!": "x"}},
    }

    await refused(wire, kind, body, f"FieldValueInvalid {path}.template.{field}")


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"parallelism": -1}, "FieldValueInvalid parallelism"),
        ({"backoffLimit": -1}, "FieldValueInvalid backoffLimit"),
        ({"ttlSecondsAfterFinished": -1}, "FieldValueInvalid ttlSecondsAfterFinished"),
        ({"completionMode": "odd"}, "FieldValueNotSupported completionMode"),
        ({"completionMode": "Indexed"}, "FieldValueRequired completions"),
        ({"manualSelector": True}, "FieldValueNotSupported manualSelector"),
        ({"selector": {"matchLabels": {"a": "b"}}}, "FieldValueInvalid selector"),
    ],
    ids=str,
)
async def test_what_jobs_are_made_after(wire: Wire, spec: Any, cause: str) -> None:
    body = cron_job()
    body["spec"]["jobTemplate"]["spec"] |= spec

    await refused(wire, "cronjobs", body, cause.replace(" ", " spec.jobTemplate.spec."))


# ------------------------------------------------------------------ jobs
@pytest.mark.parametrize(
    ("rule", "causes"),
    [
        ({"action": "odd", "onExitCodes": CODES}, ["FieldValueNotSupported .action"]),
        ({"onExitCodes": CODES}, ["FieldValueRequired .action"]),
        ({"action": "Ignore"}, ["FieldValueInvalid "]),
        (FAILS | {"onPodConditions": [{"type": "X", "status": "True"}]}, ["FieldValueInvalid "]),
        (FAILS | {"action": "FailIndex"}, ["FieldValueInvalid .action"]),
        (
            FAILS | {"onExitCodes": CODES | {"operator": "odd"}},
            ["FieldValueNotSupported .onExitCodes.operator"],
        ),
        (
            FAILS | {"onExitCodes": {}},
            ["FieldValueRequired .onExitCodes.operator", "FieldValueInvalid .onExitCodes.values"],
        ),
        (
            FAILS | {"onExitCodes": CODES | {"values": [0]}},
            ["FieldValueInvalid .onExitCodes.values[0]"],
        ),
        (
            FAILS | {"onExitCodes": CODES | {"values": [1, 1]}},
            ["FieldValueDuplicate .onExitCodes.values[1]"],
        ),
        (
            FAILS | {"onExitCodes": CODES | {"values": [3, 1]}},
            ["FieldValueInvalid .onExitCodes.values"],
        ),
        (
            FAILS | {"onExitCodes": CODES | {"containerName": "odd"}},
            ["FieldValueInvalid .onExitCodes.containerName"],
        ),
    ],
    ids=str,
)
async def test_what_becomes_of_a_job_whose_pods_fail(
    wire: Wire, rule: Any, causes: list[str]
) -> None:
    body = job(podFailurePolicy={"rules": [rule]})

    where = "spec.podFailurePolicy.rules[0]"
    await refused(wire, "jobs", body, *(it.replace(" ", f" {where}") for it in causes))


@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        ({"podReplacementPolicy": "odd"}, ["FieldValueNotSupported spec.podReplacementPolicy"]),
        (
            {"podReplacementPolicy": "TerminatingOrFailed", "podFailurePolicy": {"rules": [FAILS]}},
            ["FieldValueNotSupported spec.podReplacementPolicy"],
        ),
        (
            {"podFailurePolicy": {"rules": [FAILS] * 21}},
            ["FieldValueTooMany spec.podFailurePolicy.rules"],
        ),
        ({"backoffLimitPerIndex": 1}, ["FieldValueInvalid spec.backoffLimitPerIndex"]),
        (
            {"maxFailedIndexes": 1},
            [
                "FieldValueRequired spec.backoffLimitPerIndex",
                "FieldValueInvalid spec.maxFailedIndexes",
            ],
        ),
    ],
    ids=str,
)
async def test_how_a_job_counts(wire: Wire, spec: Any, causes: list[str]) -> None:
    await refused(wire, "jobs", job(**spec), *causes)


# ------------------------------------------------------------------ addresses
@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("../x", "IPv4"),
        ("", "IPv4"),
        ("::1", "IPv4"),
        ("1.2.3.4", "IPv6"),
        ("0.0.0.0", "IPv4"),
        ("169.254.1.1", "IPv4"),
        ("../x", "FQDN"),
        ("a", "FQDN"),
    ],
)
async def test_an_endpoint_is_somewhere(wire: Wire, address: str, kind: str) -> None:
    answer = await wire.post(
        "endpointslices", named("a", addressType=kind, endpoints=[{"addresses": [address]}])
    )

    answer.refused(422, "Invalid")
    assert all(it.startswith("FieldValueInvalid endpoints[0].addresses") for it in answer.causes)


@pytest.mark.parametrize(
    ("ports", "cause"),
    [
        ([{"port": 80, "protocol": "odd"}], "FieldValueNotSupported ports[0].protocol"),
        ([{"port": 80, "name": "A_"}], "FieldValueInvalid ports[0].name"),
        ([{"port": 80}, {"port": 81}], "FieldValueDuplicate ports[1].name"),
    ],
    ids=str,
)
async def test_ports_of_endpoints(wire: Wire, ports: Any, cause: str) -> None:
    body = named("a", addressType="IPv4", endpoints=[{"addresses": ["10.0.0.1"]}], ports=ports)

    await refused(wire, "endpointslices", body, cause)


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        ({"ipFamilies": ["odd"]}, "FieldValueNotSupported spec.ipFamilies[0]"),
        ({"ipFamilies": ["IPv4", "IPv4"]}, "FieldValueDuplicate spec.ipFamilies[1]"),
        ({"ipFamilyPolicy": "odd"}, "FieldValueNotSupported spec.ipFamilyPolicy"),
        ({"internalTrafficPolicy": "odd"}, "FieldValueNotSupported spec.internalTrafficPolicy"),
        ({"externalTrafficPolicy": "Local"}, "FieldValueInvalid spec.externalTrafficPolicy"),
        (
            {"type": "NodePort", "externalTrafficPolicy": "odd"},
            "FieldValueNotSupported spec.externalTrafficPolicy",
        ),
        ({"externalIPs": ["x"]}, "FieldValueInvalid spec.externalIPs[0]"),
        ({"type": "ExternalName", "externalName": "A_"}, "FieldValueInvalid spec.externalName"),
    ],
    ids=str,
)
async def test_where_a_service_is(wire: Wire, spec: Any, cause: str) -> None:
    body = service()
    body["spec"] |= spec

    await refused(wire, "services", body, cause)


# ------------------------------------------------------------------ small ones
@pytest.mark.parametrize(
    ("subject", "causes"),
    [
        ({"kind": "User", "apiGroup": "odd"}, ["FieldValueNotSupported subjects[0].apiGroup"]),
        ({"kind": "Group", "apiGroup": "odd"}, ["FieldValueNotSupported subjects[0].apiGroup"]),
        (
            {"kind": "ServiceAccount", "apiGroup": GROUP},
            ["FieldValueNotSupported subjects[0].apiGroup"],
        ),
        ({"kind": "ServiceAccount", "name": "A_"}, ["FieldValueInvalid subjects[0].name"]),
    ],
    ids=str,
)
async def test_whom_a_role_is_bound_to(wire: Wire, subject: Any, causes: list[str]) -> None:
    body = named("a", subjects=[{"name": "x"} | subject], roleRef=ROLE)

    await refused(wire, "rolebindings", body, *causes)


@pytest.mark.parametrize(
    ("role", "cause"),
    [
        ({"apiGroup": "odd"}, "FieldValueNotSupported roleRef.apiGroup"),
        ({"name": "a/b"}, "FieldValueInvalid roleRef.name"),
    ],
    ids=str,
)
async def test_which_role_is_bound(wire: Wire, role: Any, cause: str) -> None:
    body = named("a", subjects=[{"kind": "User", "name": "x"}], roleRef=ROLE | role)

    await refused(wire, "rolebindings", body, cause)


async def test_a_group_that_is_empty_is_the_usual_one(wire: Wire) -> None:
    nobody = {"kind": "User", "name": "x", "apiGroup": ""}
    body = named("a", subjects=[nobody], roleRef=ROLE | {"apiGroup": ""})

    made = (await wire.post("rolebindings", body)).made()

    assert (made["subjects.0.apiGroup"], made["roleRef.apiGroup"]) == (GROUP, GROUP)


@pytest.mark.parametrize(("kind", "value"), [("configmaps", "x"), ("secrets", "eA==")])
async def test_data_has_names(wire: Wire, kind: str, value: str) -> None:
    await refused(wire, kind, named("a", data={"": value}))


@pytest.mark.parametrize("seconds", [2**31, 2**40], ids=str)
async def test_an_applied_number_must_fit(wire: Wire, seconds: int) -> None:
    head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    body = head | named("a", spec={"leaseDurationSeconds": seconds})

    answer = await wire.apply("leases/a", body, force=True)

    answer.refused(422, "Invalid", "FieldValueInvalid spec.leaseDurationSeconds")


@pytest.mark.differs("A number that does not fit in its field is refused when applied")
async def test_an_applied_number_is_cut_to_what_fits(wire: Wire) -> None:
    head = {"apiVersion": "apps/v1", "kind": "Deployment"}

    made = await wire.apply("deployments/a", head | deployment(replicas=2**40), force=True)

    assert made.ok(201)["spec.replicas"] == 0
