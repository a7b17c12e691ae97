"""How processes listen, with TLS or without, and whether what they need for it is there."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Papers:
    """What was found of certificates, before anything starts by them; no content of theirs."""

    #: What must be otherwise before anything is started by them, each with its secret and key.
    flaws: tuple[str, ...] = ()
    #: Why nobody could look; then what pods tell must do.
    unknown: str = ""
    #: Which of them ends soon, and when.
    ending: str = ""
    #: Which one sidecars of split images shall show, by class: its SHA-256.
    sidecars: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Transport:
    """Where processes shall listen now, and what keeps them from where they are asked to."""

    tls: bool = False
    plain: bool = True
    #: Why they do not listen yet as the spec asks; empty: nothing holds that up.
    held: str = ""
    #: Some listen otherwise than they shall now.
    unfinished: bool = False
    papers: Papers = field(default_factory=Papers)

    @property
    def converts(self) -> bool:
        """Whether processes go over from one kind to the other."""
        return (self.tls and self.plain) or self.unfinished
