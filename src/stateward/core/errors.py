"""Our exception tree.

StatewardError
├── UsageError           what the user typed or configured cannot be honoured      -> exit code 2
├── SpecInvalid          the object cannot be honoured as written                  -> Blocked
├── PeerError            a peer (Kubernetes, etcd, FoundationDB) is the trouble    -> retried
│   ├── PeerUnreachable  the request never reached the peer
│   ├── OutcomeUnknown   the request may or may not have been carried out: read back, do not repeat
│   ├── PeerConfused     the answer makes no sense (wrong type, broken body)
│   └── ApiError         Kubernetes answered "no": the subtree in kube/errors.py
├── NotLeader            we may not act: another instance leads, or we cannot prove that we do
└── HouseError           a promise that our own code makes was broken: a bug

Every error carries a ``reason`` (one CamelCase word, documented in docs/reasons.md), a sentence
that says what must be true, and a ``hint`` that says what to do. Nobody matches on message text.
"""

from __future__ import annotations


class StatewardError(Exception):
    """Everything we raise on purpose."""

    reason = "Error"
    hint = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def sentence(self) -> str:
        """Return one line for a person: what is wrong, and what to do."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(StatewardError):
    """What the user typed or configured cannot be honoured."""

    reason = "UsageError"


class SpecInvalid(StatewardError):
    """The object cannot be honoured as written; ``field`` says where."""

    reason = "SpecInvalid"

    def __init__(self, field: str, message: str, *, hint: str = "") -> None:
        super().__init__(f"{field}: {message}", hint=hint)
        self.field = field


class PeerError(StatewardError):
    """A peer is the trouble, not the object: try again later."""

    reason = "PeerError"


class PeerUnreachable(PeerError):
    """The request never reached the peer, so it had no effect."""

    reason = "PeerUnreachable"


class OutcomeUnknown(PeerError):
    """The request was sent and no answer came: it may or may not have been carried out."""

    reason = "OutcomeUnknown"


class PeerConfused(PeerError):
    """The peer answered something that makes no sense."""

    reason = "PeerConfused"


class NotLeader(StatewardError):
    """We cannot prove that we lead, so we do not act."""

    reason = "NotLeader"


class HouseError(StatewardError):
    """A promise that our own code makes was broken; please report it."""

    reason = "HouseError"
