"""``fdbrestore``, emulated."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stateward.emulate.fdb.programs.backups import typed


def main(argv: Sequence[str] | None = None) -> int:
    """Run fdbrestore to its end; return its code."""
    return typed.main("fdbrestore", argv)


if __name__ == "__main__":
    sys.exit(main())
