"""By which signals we are told to end; in a module that imports next to nothing."""

import signal
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
