"""`stateward operator` refuses what it cannot honour before it starts anything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stateward import __version__
from stateward.app import operator as app
from stateward.app.settings import Address, Settings
from stateward.cli.main import main
from stateward.core.chance import Chance
from stateward.runtime.telling import logs

KUBECONFIG = {
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "c", "namespace": "mine"}}],
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
}


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Configure a cluster, and note with which settings the operator would have run."""
    config = tmp_path / "config"
    config.write_text(json.dumps(KUBECONFIG))
    monkeypatch.setenv("KUBECONFIG", str(config))
    noted: list[Settings] = []

    async def run(settings, access, products, stop, ports):
        noted.append(settings)

    monkeypatch.setattr(app, "run", run)
    yield noted
    logs.reset()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metrics-address", "8080"], "--metrics-address must be HOST:PORT"),
        (["--probe-address", ":99999"], "--probe-address must be HOST:PORT"),
        (["--namespace", "Shop"], "--namespace must be of a-z"),
        (["--namespace", "shop", "--namespace", ""], "--namespace must be of a-z"),
        (["--lease-namespace", "a_b"], "--lease-namespace must be of a-z"),
        (["--lease-name", "a b"], "--lease-name must be of a-z"),
        (["--rescue-folder", "/nowhere"], "--rescue-folder must be a folder"),
        (["--fdb-binaries", "here"], "--fdb-binaries must be folders that begin with /"),
        (["--fdb-binaries", ":"], "--fdb-binaries must be folders that begin with /"),
        (["--image", "a b"], "--image must be the name of an image"),
        (["--service-account", "a_b"], "--service-account must be of a-z"),
        (["--addresses", "/nowhere"], "--addresses must be dns or the folder"),
        (["--product", "mysql"], "mysql"),
        (["--log-format", "xml"], "xml"),
        (["--log-level", "loud"], "loud"),
        (["--context", "there"], "there"),
        (["--kubeconfig", "/nowhere/config"], "/nowhere/config"),
        (["extra"], "extra"),
    ],
)
def test_bad_words_are_one_sentence_and_exit_code_2(started, capsys, words, said):
    assert main(["operator", *words]) == 2

    sentence = capsys.readouterr().err
    assert said in sentence
    assert sentence.count("\n") == 1
    assert started == []


def test_what_it_does_unless_told_otherwise(started):
    assert main(["operator", "--product", "example"]) == 0

    assert started == [
        Settings(
            products=("example",),
            metrics=Address("127.0.0.1", 8080),
            probes=Address("127.0.0.1", 8081),
            lease_namespace="mine",
        )
    ]


def test_everything_can_be_said_by_variables(started, monkeypatch, tmp_path):
    said = {
        "PRODUCT": "example",
        "NAMESPACE": "shop,bank",
        "SELECTOR": "fleet=blue",
        "METRICS_ADDRESS": ":1",
        "PROBE_ADDRESS": "0",
        "LEASE_NAMESPACE": "system",
        "LEASE_NAME": "ours",
        "RESCUE_FOLDER": str(tmp_path),
        "ADDRESSES": str(tmp_path),
        "FDB_BINARIES": "/a:/b",
        "IMAGE": "example.org/stateward:1",
        "SERVICE_ACCOUNT": "keeper",
        "LOG_FORMAT": "text",
        "LOG_LEVEL": "error",
    }
    for name, value in said.items():
        monkeypatch.setenv(f"STATEWARD_{name}", value)
    assert main(["operator"]) == 0

    assert started == [
        Settings(
            products=("example",),
            namespaces=("shop", "bank"),
            selector="fleet=blue",
            metrics=Address("", 1),
            lease_namespace="system",
            lease_name="ours",
            rescue=tmp_path,
            local_cluster=tmp_path,
            fdb_binaries=(Path("/a"), Path("/b")),
            image="example.org/stateward:1",
            service_account="keeper",
        )
    ]


@pytest.mark.parametrize(
    ("words", "image"),
    [
        ([], ""),  # nobody knows it
        (["--addresses", "."], f"stateward:{__version__}"),  # a local cluster runs ourselves
        (["--addresses", ".", "--image", "mine:1"], "mine:1"),
    ],
)
def test_its_own_image_is_told_or_that_of_a_local_cluster(started, words, image):
    assert main(["operator", *words]) == 0

    assert (started[0].image, started[0].service_account) == (image, "")


def test_programs_are_where_the_variable_of_foundationdb_says(started, monkeypatch):
    monkeypatch.setenv("FDB_BINARY_DIR", "/opt/fdb")
    assert main(["operator"]) == 0

    assert started[0].fdb_binaries == (Path("/opt/fdb"),)


@pytest.mark.parametrize("word", ["flag", "variable"])
def test_whoever_is_alone_takes_no_lease(started, monkeypatch, word):
    if word == "variable":
        monkeypatch.setenv("STATEWARD_NO_LEADER_ELECTION", "true")
    words = ["--no-leader-election"] if word == "flag" else []
    assert main(["operator", *words]) == 0

    assert started[0].products == ("etcd", "foundationdb")
    assert started[0].lease("etcd") is None


def test_no_two_processes_have_the_same_name():
    names = {app.identity_of(Chance.from_system()) for _ in range(100)}

    assert len(names) == 100


STUBBORN = """
import asyncio
from stateward.cli.signals import stop_event_once

async def main():
    stop = stop_event_once()
    print("ready", flush=True)
    await stop.wait()
    print("told", flush=True)
    while True:
        pass  # a loop that is stuck: nothing of ours could end it

asyncio.run(main())
"""


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_even_a_process_that_is_stuck(second):
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "told\n"
        process.send_signal(second)

        assert process.wait(10) == -second
