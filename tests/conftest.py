"""Coroutine tests: on a real event loop, or, marked ``virtual``, on the simulation's."""

from __future__ import annotations

import asyncio
import gc
import inspect
import signal
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

import long_examples
from contract.fdb import telling as recordings
from fakes import kubectl, loops
from real import clusters, planes, report
from stateward.core.errors import UsageError
from stateward.sim import loop as sim_loop

# How long an example takes says more about what else the machine does than about us.
# The same examples every time, so that what is red was made red by a change; others by choice
# (--hypothesis-profile=chance), and what they find becomes an @example.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.register_profile("chance", deadline=None)
hypothesis.settings.load_profile("house")

#: No single test may take longer than this, whatever it waits for.
LIMIT = 120.0
VIRTUAL_LIMIT = 100_000.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--real", action="store_true", help="also ask a real Kubernetes")
    parser.addoption("--real-alone", action="store_true", help="ask it and not the embedded one")
    parser.addoption("--cluster", action="store_true", help="tell stories on real nodes")
    parser.addoption("--every-story", action="store_true", help="tell every story, whole")


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Leave out what is long, and repeats by another example what others show."""
    chosen = any("::" in it for it in config.args) or config.getoption("lf", default=False)
    long_examples.mark(items, whole=not chosen)
    yield
    if not config.getoption("--every-story"):
        long = {it for it in items if it.get_closest_marker("long")}
        items[:] = [it for it in items if it not in long]
        config.hook.pytest_deselected(items=list(long))


def pytest_collection_finish() -> None:
    """Look for garbage less often: twenty thousand tests that stay would be looked through."""
    gc.set_threshold(20_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    """Start the control planes that a run shares, once: workers find them by the environment."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts what it puts aside deaf to Ctrl-C, and all that is started from there; it
        # is what some tests send.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    alone = config.getoption("--real-alone")
    if alone:
        config.option.real = True
    if hasattr(config, "workerinput"):
        return
    if config.getoption("--real"):
        shared = planes.all_shared(alone=alone)
        try:
            shared.__enter__()
        except UsageError as error:
            raise pytest.UsageError(f"--real: {error}; {error.hint}") from error
        config.add_cleanup(lambda: shared.__exit__(None, None, None))
    if config.getoption("--real") or config.getoption("--cluster"):
        # Told to end, we end what we started, as after Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """An operator's test that goes over HTTP takes ``cluster``: our own, and with --real both."""
    if "cluster" in metafunc.fixturenames:
        metafunc.parametrize("cluster", planes.kinds(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[clusters.RunningCluster]:
    """Run a whole cluster for all tests of this worker."""
    with clusters.running(request.param, tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(autouse=True)
def _quiet() -> None:
    """Unconfigured, structlog renders and prints every line; who wants lines captures them.

    Anew for every test: what one made of it must not silence the next.
    """
    structlog.reset_defaults()
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {
        name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters
    }
    coroutine = pyfuncitem.obj(**arguments)
    if pyfuncitem.get_closest_marker("virtual"):
        sim_loop.run(asyncio.wait_for(coroutine, VIRTUAL_LIMIT))
    else:
        loops.run(coroutine, _limit(pyfuncitem))
    return True


def _limit(item: pytest.Function) -> float:
    """Return how many seconds a test may take: a story with much waiting in it asks for more."""
    patient = item.get_closest_marker("patient")
    return float(patient.args[0]) if patient else LIMIT


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which real parts the tests met, and which they had to do without."""
    config = terminalreporter.config
    if config.getoption("--real"):
        servers = report.servers(alone=config.getoption("--real-alone"))
        for line in (*report.lines_of(terminalreporter.stats), "", *servers):
            terminalreporter.write_line(line)
    else:
        terminalreporter.write_line(f"real: {report.parts_text()}")
    if not config.getoption("--cluster"):
        terminalreporter.write_line("cluster: `make test-cluster` tells stories on real nodes")
    for line in recordings.lines_of(terminalreporter.stats):
        terminalreporter.write_line(line)
    terminalreporter.write_line(f"kubectl: {kubectl.find().told}")
