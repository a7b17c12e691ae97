"""``python -m stateward`` is the command ``stateward``."""

from stateward.cli.main import run

run()
