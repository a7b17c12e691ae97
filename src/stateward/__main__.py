"""``python -m stateward`` is the command ``stateward``."""

from stateward.cli.entry import run

run()
