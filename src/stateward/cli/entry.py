"""The way in: nothing is imported before we are ready to be interrupted.

Importing takes a moment, and a user may press Ctrl-C in it; that must not end in a traceback.
"""

import os
import sys
from io import TextIOWrapper


def run() -> None:
    """Run the command line of this process and end it with the right exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal without a tick mark gets a question mark
    try:
        from stateward.cli.main import main  # noqa: PLC0415 - the point of this module

        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("stateward: interrupted\n")
        code = 130
    try:
        if sys.stdout is not None:  # as with `>&-`
            sys.stdout.flush()
    except OSError:  # whoever read us has gone, for example `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
