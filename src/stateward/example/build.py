"""The objects that a team is made of, as documents. Pure."""

from __future__ import annotations

from stateward.example.api import TEAM_LABEL, TEAMS, Team
from stateward.kube.codec import Json


def member_name(team: Team, ordinal: int) -> str:
    """Return the name of a member."""
    return f"{team.metadata.name}-{ordinal}"


def member(team: Team, ordinal: int) -> Json:
    """Return a member as it should be."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": member_name(team, ordinal),
            "namespace": team.metadata.namespace,
            "labels": {TEAM_LABEL: team.metadata.name},
            "ownerReferences": [
                {
                    "apiVersion": TEAMS.api_version,
                    "kind": TEAMS.kind,
                    "name": team.metadata.name,
                    "uid": team.metadata.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "data": {"motto": team.spec.motto},
    }
