"""``python -m tools.real [cluster]``: nothing much is imported before we are ready to be interrupted."""

import os
import signal
import sys
from typing import NoReturn

from tools.real.signals import SIGNALS


def run() -> int:
    """Do it; return the exit code, whatever happens to us or to who reads what we say."""
    for number in SIGNALS:  # end as cleanly as at Ctrl-C
        signal.signal(number, _interrupted)
    try:
        from tools.real.command import obtain  # noqa: PLC0415 - the point of this module

        return obtain(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("real: interrupted\n")
        return 130
    except OSError:  # of the output: whoever read us has gone, or its disk is full
        return 1
    finally:
        _let_go_of_the_output()


def _let_go_of_the_output() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(run())
