"""Every answer that was recorded of real etcd 3.4 and 3.5, read again by the gateway's reader."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateward.core.errors import PeerError
from stateward.etcd.members import asking, calls, gateway, messages
from stateward.etcd.members.calls import Call

#: Kept beside the repository, not in it.
RECORDINGS = Path(__file__).parents[4] / "shared" / "reference" / "etcd-transcripts"

#: What a text of etcd's must be called; written by hand, not by what the reader does.
CALLED = {
    "unhealthy cluster": "EtcdPacing",
    "too many learner members in cluster": "TooManyLearners",
    "can only promote a learner member which is in sync with leader": "LearnerBehind",
    "can only promote a learner member": "AlreadyVoter",
    "member not found": "MemberUnknown",
    "member ID already exist": "MemberExists",
    "re-configuration failed due to not enough started members": "QuorumAtRisk",
    "rpc not supported for learner": "LearnerCannot",
    "not leader": "NotTheLeader",
    "bad leader transferee": "NotTheLeader",
    "user name is empty": "LoginNeeded",
    "invalid auth token": "LoginNeeded",
    "CommonName of client sending a request against gateway will be ignored and not used as expected": "LoginNeeded",
    "mvcc: database space exceeded": "NoSpace",
    "user name already exists": "NameTaken",
    "root user does not exist": "EtcdRefused",
    "Method Not Allowed": "EtcdRefused",
    "Not Found": "EtcdRefused",
}
#: Nobody decided: it depends on what was asked whether that leaves something open.
UNDECIDED = {"request timed out", "context deadline exceeded"}
#: The gateway did not get through to its own member.
CUT = {"connection closed", "use of closed network connection"}


def recorded() -> Iterator[tuple[str, dict[str, Any], Call]]:
    by_path = {f"/v3/{it.path}": it for it in calls.ALL if it is not calls.ALARMS}
    for path in sorted(RECORDINGS.glob("*/*.json")):
        record = json.loads(path.read_text())
        call = by_path.get(record.get("request", {}).get("path"))
        if call is not None and record["response"].get("http_status") is not None:
            request = record["request"].get("body")
            reads = call is calls.SET_ALARM and not (request or {}).get("action", 0)
            yield f"{path.parent.name}/{path.stem}", record, calls.ALARMS if reads else call


ANSWERS = list(recorded())


def body_of(record: dict[str, Any]) -> bytes:
    body = record["response"]["body"]
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def test_there_are_recordings():
    if not RECORDINGS.is_dir():
        pytest.skip("the recordings of real etcd are not beside this repository")
    assert len(ANSWERS) > 300


@pytest.mark.parametrize(("name", "record", "call"), ANSWERS, ids=[it[0] for it in ANSWERS])
def test_a_recorded_answer_is_understood(name, record, call):
    status = record["response"]["http_status"]
    if status == 200:
        said = gateway.understood(call, status, body_of(record), "etcd")
        assert_same(call, said, record["response"]["body"])
        return
    with pytest.raises(PeerError) as caught:
        gateway.understood(call, status, body_of(record), "etcd")
    assert caught.value.reason == expected(call, record["response"]["body"])


def expected(call: Call, body: str | dict[str, Any]) -> str:
    text = body if isinstance(body, str) else str(body["message"])
    text = text.strip().removeprefix("etcdserver: ").removeprefix("auth: ")
    if text in UNDECIDED:
        return "OutcomeUnknown" if call.writes else "NoQuorum"
    if text in CUT:
        return "OutcomeUnknown" if call.writes else "PeerUnreachable"
    if text.startswith("connection error: desc"):
        return "PeerUnreachable"
    return CALLED[text]


def assert_same(call: Call, said: messages.Message, body: dict[str, Any]) -> None:
    """Compare with the JSON as it stands: numbers as text, what is not said is zero."""
    for key in ("cluster_id", "member_id", "revision", "raft_term"):
        assert said["header"][key] == int(body.get("header", {}).get(key, 0))
    if call is calls.LIST:
        found = asking.roster(said).members
        assert [(it.id, it.name, it.learner, it.peer_urls) for it in found] == [
            (int(it["ID"]), it.get("name", ""), it.get("isLearner", False), tuple(it["peerURLs"]))
            for it in body["members"]
        ]
    elif call is calls.STATUS:
        numbers = ("dbSize", "dbSizeInUse", "leader", "raftIndex", "raftAppliedIndex", "raftTerm")
        assert [said[it] for it in numbers] == [int(body.get(it, 0)) for it in numbers]
        assert (said["version"], said["errors"]) == (body["version"], body.get("errors", []))
        assert said["isLearner"] is body.get("isLearner", False)
    elif call is calls.ADD:
        assert said["member"]["ID"] == int(body["member"]["ID"])
    elif call is calls.ALARMS:
        assert said["alarms"] == [
            {
                "memberID": int(it["memberID"]),
                "alarm": ("NONE", "NOSPACE", "CORRUPT").index(it["alarm"]),
            }
            for it in body.get("alarms", [])
        ]
    elif call is calls.RANGE:
        assert said["count"] == int(body.get("count", 0))
        assert [it["value"] for it in said["kvs"]] == [
            base64.b64decode(it.get("value", "")) for it in body.get("kvs", [])
        ]
