"""What the operator is told: sound, or refused in a sentence that names the option."""

from __future__ import annotations

import os

import pytest

from stateward.app import settings
from stateward.app.settings import Address, Settings
from stateward.core.errors import UsageError
from stateward.kube.meta import ObjectKey


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8080", "", 8080),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost:65535", "localhost", 65535),
        ("[::1]:8080", "::1", 8080),
        ("0.0.0.0:9", "0.0.0.0", 9),
    ],
)
def test_addresses(text, host, port):
    found = settings.address("--x", text)

    assert found == Address(host, port)
    assert str(found) == text


def test_no_address_is_nowhere():
    assert settings.address("--x", "0") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8080",
        ":",
        "host",
        "host:",
        ":65536",
        ":-1",
        ":80 80",
        ":8²",
        "::1:80",
        "a b:1",
        "http://x:1",
        "[x:1",
        ":1:1",
    ],
)
def test_what_is_no_address(text):
    with pytest.raises(UsageError, match="--x must be HOST:PORT, :PORT or 0, got") as caught:
        settings.address("--x", text)
    assert repr(text) in caught.value.sentence()


@pytest.mark.parametrize(
    ("words", "names"),
    [([], ()), (["a"], ("a",)), (["a,b", "c"], ("a", "b", "c")), (["b", "a", "b, a"], ("b", "a"))],
)
def test_namespaces(words, names):
    assert settings.namespaces("--n", words) == names


@pytest.mark.parametrize("text", ["", "fleet=blue", "!fleet", "fleet notin (blue,green),tier"])
def test_a_selector(text):
    assert settings.selector("--s", text) == text


@pytest.mark.parametrize("text", ["=", "fleet=blue=green", "fleet in blue", "fleet=b l"])
def test_what_is_no_selector(text):
    with pytest.raises(UsageError, match="--s must be a label selector: "):
        settings.selector("--s", text)


@pytest.mark.parametrize("word", ["", "A", "a,,b", "a b", "-a", "a.b", "x" * 64, "*"])
def test_what_is_no_namespace(word):
    with pytest.raises(UsageError, match=r"^--n must"):
        settings.namespaces("--n", ["fine", word])


@pytest.mark.parametrize("name", ["", "A", "x" * 64])
def test_what_is_no_namespace_for_leases(name):
    with pytest.raises(UsageError, match=r"^--l must"):
        settings.lease_namespace("--l", name)


@pytest.mark.parametrize("name", ["", "Up", "a/b", "x" * 253, "."])
def test_what_is_no_name_for_leases(name):
    with pytest.raises(UsageError, match=r"^--l must"):
        settings.lease_name("--l", name)


def test_every_operator_has_a_lease_of_its_own_unless_there_is_no_election():
    elects = Settings((), lease_namespace="system", lease_name="mine")

    assert elects.lease("etcd") == ObjectKey("system", "mine-etcd")
    assert elects.lease("example") == ObjectKey("system", "mine-example")
    assert Settings(()).lease("etcd") is None


def test_a_folder_for_snapshots_is_checked_before_the_day_it_is_needed(tmp_path):
    file = tmp_path / "file"
    file.write_text("")

    assert settings.rescue_folder("--r", None) is None
    assert settings.rescue_folder("--r", tmp_path) == tmp_path
    for wrong in (file, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="--r must be a folder that can be written to"):
            settings.rescue_folder("--r", wrong)


def test_a_folder_that_we_may_not_write_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever is root may write everywhere
    with pytest.raises(UsageError, match="can be written to"):
        settings.rescue_folder("--r", tmp_path)


def test_where_members_find_each_other(tmp_path):
    assert settings.local_cluster("--a", "dns") is None
    assert settings.local_cluster("--a", str(tmp_path)) == tmp_path
    for wrong in ("DNS", "/no where", str(tmp_path / "nowhere")):
        with pytest.raises(UsageError, match="--a must be dns or the folder of a local cluster"):
            settings.local_cluster("--a", wrong)
