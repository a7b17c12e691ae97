"""How far a cluster is on its way to TLS, or back: the stages of docs/foundationdb/tls.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateward.fdb.views import ClusterView

#: What happens in each of them: in few words, and in a sentence.
_STAGES: Final = (
    ("pods get certificates", "pods without certificates are made anew"),
    ("listen both ways", "all processes shall listen with TLS and without, after one restart"),
    ("coordinators move", "coordinators shall be found {new}"),
    ("listen one way", "no process shall listen {old} any more, after one more restart"),
)
_WITH, _WITHOUT = "with TLS", "without TLS"


@dataclass(frozen=True, slots=True)
class Stage:
    """One of the stages, counted from 1; and whether TLS is turned on, or off."""

    number: int
    on: bool

    @property
    def of(self) -> int:
        """How many there are."""
        return len(_STAGES)

    @property
    def short(self) -> str:
        """Where that is, for a column of a table."""
        return f"TLS {'on' if self.on else 'off'}, {self.number}/{self.of} ({self._words[0]})"

    @property
    def long(self) -> str:
        """The same as a sentence."""
        new, old = (_WITH, _WITHOUT) if self.on else (_WITHOUT, _WITH)
        where = f"TLS is turned {'on' if self.on else 'off'}, stage {self.number} of {self.of}"
        return f"{where}: {self._words[1].format(new=new, old=old)}"

    @property
    def _words(self) -> tuple[str, str]:
        return _STAGES[self.number - 1]


def stage(view: ClusterView) -> Stage | None:
    """Return where a cluster is that changes how processes listen; None: it does not."""
    transport, asked = view.transport, view.spec.main_container.enable_tls
    if not transport.converts:
        return Stage(1, asked) if transport.held else None
    if not (transport.tls and transport.plain):
        return Stage(4, asked)
    if transport.unfinished:
        return Stage(2, asked)
    found = view.connection.coordinators if view.connection is not None else ()
    return Stage(4 if all(it.tls is asked for it in found) else 3, asked)
