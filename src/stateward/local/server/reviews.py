"""Questions that are answered and not kept: who am I, and what may I do? Here: everything. Pure."""

from __future__ import annotations

from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import Invalid
from stateward.local.schema import causes
from stateward.local.server.addresses import Address

USER: Final = {"username": "stateward-local", "groups": ["system:masters", "system:authenticated"]}

_EVERYTHING: Final[Json] = {
    "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    "incomplete": False,
}
_ALLOWED: Final[Json] = {"allowed": True, "reason": "whoever has the token may do everything here"}

#: By group and plural: the kind, and whether it is asked inside a namespace.
REVIEWS: Final[dict[tuple[str, str], tuple[str, bool]]] = {
    ("authorization.k8s.io", "selfsubjectaccessreviews"): ("SelfSubjectAccessReview", False),
    ("authorization.k8s.io", "selfsubjectrulesreviews"): ("SelfSubjectRulesReview", False),
    ("authorization.k8s.io", "subjectaccessreviews"): ("SubjectAccessReview", False),
    ("authorization.k8s.io", "localsubjectaccessreviews"): ("LocalSubjectAccessReview", True),
    ("authentication.k8s.io", "selfsubjectreviews"): ("SelfSubjectReview", False),
    ("authentication.k8s.io", "tokenreviews"): ("TokenReview", False),
}


def is_review(address: Address) -> bool:
    """Tell whether an address is one where questions are asked."""
    place = address.group, address.plural
    return address.version == "v1" and place in REVIEWS and not address.name


def reviewed(address: Address, document: Json, *, knows_token: bool) -> Json:
    """Return the question with its answer."""
    kind, _ = REVIEWS[address.group, address.plural]
    if kind.endswith("AccessReview"):
        _check_access(document.get("spec"))
    head = {"kind": kind, "apiVersion": f"{address.group}/v1"}
    return document | head | {"status": _status(kind, knows_token=knows_token)}


def _check_access(spec: Any) -> None:
    """Raise Invalid when it is not one thing that somebody may or may not do."""
    asked = spec if isinstance(spec, dict) else {}
    resource, path = asked.get("resourceAttributes"), asked.get("nonResourceAttributes")
    if resource is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        wrong = causes.invalid("spec.resourceAttributes", None, why)
    elif resource is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        wrong = causes.invalid("spec.nonResourceAttributes", path, why)
    else:
        return
    told = f"{wrong.field}: {wrong.message}"
    raise Invalid(f'.authorization.k8s.io "" is invalid: {told}', causes=(wrong,))


def _status(kind: str, *, knows_token: bool) -> Json:
    match kind:
        case "SelfSubjectRulesReview":
            return _EVERYTHING
        case "SelfSubjectReview":
            return {"userInfo": USER}
        case "TokenReview":
            return (
                {"authenticated": True, "user": USER} if knows_token else {"authenticated": False}
            )
        case _:
            return _ALLOWED
