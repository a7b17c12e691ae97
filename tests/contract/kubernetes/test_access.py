"""Who may come in, and what one may ask about that."""

from __future__ import annotations

from typing import Any

import pytest

from contract.kubernetes.wire import Wire

PODS = {"verb": "get", "resource": "pods"}
REVIEWS = "/apis/authentication.k8s.io/v1"


@pytest.mark.parametrize("path", ["configmaps", "namespaces", "/apis/apps/v1/deployments"])
async def test_a_wrong_token_opens_nothing(wire: Wire, path: str) -> None:
    answer = await wire.ask("GET", path, headers={"Authorization": "Bearer wrong"})

    answer.refused(401, "Unauthorized", says="Unauthorized")
    assert answer["code"] == 401
    assert answer.headers["Content-Type"] == "application/json"


async def test_a_wrong_token_writes_nothing(wire: Wire) -> None:
    headers = {"Authorization": "Bearer wrong"}

    (await wire.ask("POST", "configmaps", {"metadata": {"name": "a"}}, headers=headers)).refused(
        401, "Unauthorized"
    )

    (await wire.get("configmaps/a")).refused(404, "NotFound")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
async def test_everybody_may_ask_how_it_is(wire: Wire, path: str) -> None:
    (await wire.ask("GET", path, headers={"Authorization": ""})).ok()


@pytest.mark.differs("No anonymous user: without a token everything but health and version is 401")
async def test_who_shows_nothing_is_nobody(wire: Wire) -> None:
    answer = await wire.ask("GET", "configmaps", headers={"Authorization": ""})

    says = 'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps"'
    answer.refused(403, "Forbidden", says=says)


async def test_what_may_i_do(wire: Wire) -> None:
    asked = {"spec": {"resourceAttributes": PODS | {"namespace": wire.namespace}}}

    answer = (await wire.post("selfsubjectaccessreviews", asked)).made()

    assert answer["kind"] == "SelfSubjectAccessReview"
    assert answer["apiVersion"] == "authorization.k8s.io/v1"
    assert answer["spec"] == asked["spec"]
    assert answer["status.allowed"] is True


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({}, "spec.resourceAttributes"),
        (
            {"resourceAttributes": PODS, "nonResourceAttributes": {"path": "/x", "verb": "get"}},
            "spec.nonResourceAttributes",
        ),
    ],
    ids=["nothing", "two things"],
)
async def test_one_thing_is_asked_at_a_time(wire: Wire, spec: Any, field: str) -> None:
    answer = await wire.post("selfsubjectaccessreviews", {"spec": spec})

    answer.refused(422, "Invalid", f"FieldValueInvalid {field}")


async def test_questions_are_not_kept(wire: Wire) -> None:
    (await wire.get("selfsubjectaccessreviews")).refused(405, "MethodNotAllowed")


async def test_who_am_i(wire: Wire) -> None:
    answer = (await wire.post(f"{REVIEWS}/selfsubjectreviews", {})).made()

    assert answer["kind"] == "SelfSubjectReview"
    assert answer["status.userInfo.username"]
    assert {"system:authenticated", "system:masters"} <= set(answer["status.userInfo.groups"])


async def test_whose_token_is_that(wire: Wire) -> None:
    answer = (await wire.post(f"{REVIEWS}/tokenreviews", {"spec": {"token": "wrong"}})).made()

    assert not answer["status.authenticated"]


@pytest.mark.differs("Roles and bindings are stored and ask nobody; reviews say yes.")
async def test_what_may_somebody_else_do(wire: Wire) -> None:
    asked = {"spec": {"user": "nobody", "resourceAttributes": PODS}}

    answer = (await wire.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", asked)).made()

    assert answer["status.allowed"] is False


# ------------------------------------------------------------------ roles
ROLE: Any = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}


async def test_a_role_is_kept_as_it_is(wire: Wire) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]

    made = (await wire.post("roles", {"metadata": {"name": "reader"}, "rules": rules})).made()

    assert made["rules"] == rules


async def test_a_binding_says_which_group_it_speaks_of(wire: Wire) -> None:
    short = {"kind": "Role", "name": "reader"}
    subjects = [
        {"kind": "User", "name": "us"},
        {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
    ]

    made = (
        await wire.post(
            "rolebindings", {"metadata": {"name": "a"}, "roleRef": short, "subjects": subjects}
        )
    ).made()

    assert made["roleRef"] == ROLE
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "us"}
    assert made["subjects"] == [user, subjects[1]]


async def test_a_binding_keeps_its_role(wire: Wire) -> None:
    (await wire.post("rolebindings", {"metadata": {"name": "a"}, "roleRef": ROLE})).made()

    answer = await wire.patch("rolebindings/a", {"roleRef": {"name": "writer"}})

    answer.refused(422, "Invalid", "FieldValueInvalid roleRef", says="cannot change roleRef")


@pytest.mark.parametrize(
    ("kind", "parts", "causes"),
    [
        (
            "roles",
            {"rules": [{"apiGroups": [""], "resources": ["pods"]}]},
            ["FieldValueRequired rules[0].verbs"],
        ),
        (
            "roles",
            {"rules": [{"verbs": ["get"]}]},
            ["FieldValueRequired rules[0].apiGroups", "FieldValueRequired rules[0].resources"],
        ),
        (
            "roles",
            {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            ["FieldValueInvalid rules[0].nonResourceURLs"],
        ),
        (
            "rolebindings",
            {"roleRef": ROLE | {"kind": "Any"}},
            ["FieldValueNotSupported roleRef.kind"],
        ),
        (
            "rolebindings",
            {"roleRef": ROLE, "subjects": [{"kind": "Thing", "name": "a"}]},
            ["FieldValueNotSupported subjects[0].kind"],
        ),
        (
            "clusterrolebindings",
            {
                "roleRef": ROLE | {"kind": "ClusterRole"},
                "subjects": [{"kind": "ServiceAccount", "name": "a"}],
            },
            ["FieldValueRequired subjects[0].namespace"],
        ),
    ],
    ids=[
        "no verbs",
        "no resources",
        "addresses",
        "role of no kind",
        "subject of no kind",
        "account of no namespace",
    ],
)
async def test_roles_must_make_sense(wire: Wire, kind: str, parts: Any, causes: list[str]) -> None:
    answer = await wire.post(kind, {"metadata": {"name": "a"}, **parts})

    answer.refused(422, "Invalid", *causes)
