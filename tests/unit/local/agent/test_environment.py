"""Environment, mounts, images and addresses: pure tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stateward.core.errors import UsageError
from stateward.kube.codec import Json
from stateward.kube.meta import ObjectKey, ObjectMeta
from stateward.local.agent import addresses, images
from stateward.local.agent.addresses import Addresses
from stateward.local.agent.environment import ConfigMissing, PodView, environment, expanded
from stateward.local.agent.files.mounts import Mounts
from stateward.local.agent.images import Answer, Asked, ImageRefused, Images, ProgramMissing
from stateward.local.agent.references import Contents


class Shelf:
    """One config map and one secret."""

    def config_map(self, key: ObjectKey) -> Contents | None:
        return {"a": b"1", "b.c": b"2", "not a name": b"3"} if key.name == "conf" else None

    def secret(self, key: ObjectKey) -> Contents | None:
        return {"password": b"pss\xc3\xa4"} if key.name == "pass" else None


POD = PodView(
    ObjectMeta(name="p", namespace="ns", uid="u", labels={"app": "x"}, annotations={"n/a": 'q"'}),
    {"nodeName": "node-1", "serviceAccountName": "me", "containers": []},
    "127.1.2.3",
    "127.9.9.9",
    {"cpu": "8", "memory": "16Gi"},
)


def field(path: str) -> Json:
    return {"fieldRef": {"fieldPath": path}}


def amount(what: str, divisor: str = "") -> Json:
    return {"resourceFieldRef": {"resource": what, "divisor": divisor}}


def key_of(kind: str, name: str, key: str, **more: Any) -> Json:
    return {f"{kind}KeyRef": {"name": name, "key": key, **more}}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (field("metadata.name"), "p"),
        (field("metadata.namespace"), "ns"),
        (field("metadata.uid"), "u"),
        (field("metadata.labels['app']"), "x"),
        (field("metadata.labels['none']"), ""),
        (field("metadata.annotations['n/a']"), 'q"'),
        (field("metadata.annotations"), 'n/a="q\\""'),
        (field("spec.nodeName"), "node-1"),
        (field("spec.serviceAccountName"), "me"),
        (field("status.podIP"), "127.1.2.3"),
        (field("status.hostIP"), "127.9.9.9"),
        (amount("limits.cpu"), "2"),
        (amount("limits.cpu", "1m"), "1500"),
        (amount("requests.memory", "1Mi"), "64"),
        (amount("limits.memory", "1Gi"), "16"),
        (amount("requests.ephemeral-storage"), "0"),
        (key_of("configMap", "conf", "a"), "1"),
        (key_of("secret", "pass", "password"), "pssä"),
        (key_of("secret", "none", "x", optional=True), None),
        (key_of("configMap", "conf", "x", optional=True), None),
    ],
    ids=str,
)
def test_where_values_come_from(source: Json, value: str | None) -> None:
    resources = {"limits": {"cpu": "1500m"}, "requests": {"memory": "64Mi"}}
    container = {"resources": resources, "env": [{"name": "X", "valueFrom": source}]}
    assert environment(container, POD, Shelf()).get("X") == value


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (key_of("configMap", "none", "a"), 'configmap "none" not found'),
        (key_of("configMap", "conf", "x"), "couldn't find key x in configmap ns/conf"),
        (key_of("secret", "none", "a"), 'secret "none" not found'),
        (field("status.phase"), "fieldPath must be one of"),
        (amount("limits"), "resource must be limits.NAME"),
        ({"fileKeyRef": {}}, "valueFrom must be"),
    ],
    ids=str,
)
def test_what_has_no_value(source: Json, message: str) -> None:
    with pytest.raises(ConfigMissing, match=message):
        environment({"env": [{"name": "X", "valueFrom": source}]}, POD, Shelf())


def test_whole_config_maps_come_first_and_with_a_prefix() -> None:
    container = {
        "envFrom": [
            {"prefix": "P_", "configMapRef": {"name": "conf"}},
            {"secretRef": {"name": "none", "optional": True}},
        ],
        "env": [{"name": "P_a", "value": "mine"}, {"name": "B", "value": "$(P_a)!"}],
    }
    assert environment(container, POD, Shelf()) == {"P_a": "mine", "P_b.c": "2", "B": "mine!"}
    with pytest.raises(ConfigMissing):
        environment({"envFrom": [{"configMapRef": {"name": "none"}}]}, POD, Shelf())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$(A)", "1"),
        ("$(A)$(A)", "11"),
        ("$(B)", "$(B)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A ${A}", "$A ${A}"),
        ("$(", "$("),
    ],
)
def test_expansion(text: str, value: str) -> None:
    assert expanded(text, {"A": "1"}) == value


# ------------------------------------------------------------------ mounts
@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("/data", "/v/d"),
        ("/data/", "/v/d/"),
        ("/data/wal/0", "/v/w/0"),
        ("--dir=/data/x", "--dir=/v/d/x"),
        ("a:/data,b:/data/wal", "a:/v/d,b:/v/w"),
        ("echo 1 > /data/x; cat '/data/y'", "echo 1 > /v/d/x; cat '/v/d/y'"),
        ("file:///data/x", "file:///v/d/x"),
        ("http://host/data", "http://host/data"),
        ("/database /data-2 /data.old /other/data", "/database /data-2 /data.old /other/data"),
        ("$HOME/data ${X}/data ./data", "$HOME/data ${X}/data ./data"),
        ("written to /data.", "written to /v/d."),
        ("/etc/app.conf", "/v/conf"),
    ],
)
def test_mount_paths_become_folders(text: str, translated: str) -> None:
    places = {
        "/data": Path("/v/d"),
        "/data/wal/": Path("/v/w"),
        "/etc/app.conf": Path("/v/conf"),
        "/": Path("/never"),
    }
    assert Mounts(places).translated(text) == translated


def test_the_table_of_mounts() -> None:
    mounts = Mounts({"/data": Path("/v/d")})
    assert mounts.place_of("/data/x") == Path("/v/d/x")
    assert mounts.place_of("/database") is None
    assert json.loads(mounts.as_json()) == {"/data": "/v/d"}
    assert Mounts({}).translated("/data") == "/data"


# ------------------------------------------------------------------ images
def asked(image: str, *command: str, args: tuple[str, ...] = ()) -> Asked:
    return Asked(image, command, args, {}, "ns", "p", "127.1.2.3", Mounts({}))


@pytest.mark.parametrize(
    ("image", "known"),
    [
        ("busybox", True),
        ("busybox:1.36", True),
        ("docker.io/library/busybox@sha256:00", True),
        ("registry.k8s.io/pause:3.9", True),
        ("stateward.dev/web", True),
        ("python:3.12-slim", True),
        ("example.org/busybox", False),
        ("nginx", False),
    ],
)
def test_which_images_are_known(image: str, known: bool) -> None:
    if known:
        assert images.built_in().find(image)(asked(image)).argv
    else:
        with pytest.raises(ImageRefused, match=r"known: alpine.*busybox"):
            images.built_in().find(image)


def test_operators_add_their_own_by_tag_or_without() -> None:
    known = Images()
    known.add("example.org/db", lambda _: Answer(("any",)))
    known.add("example.org/db:3.*", lambda _: Answer(("three",)))
    found = [known.find(f"example.org/db:{tag}")(asked("x")).argv[0] for tag in ("2.1", "3.5")]
    assert found == ["any", "three"]


def test_programs_of_this_machine() -> None:
    assert images.shell(asked("busybox", "sh", "-c", "x")).argv[1:] == ("-c", "x")
    assert images.shell(asked("busybox", args=("sh", "-c"))).argv[0].endswith("/sh")
    assert images.python(asked("python", "python3", "-V")).argv == (sys.executable, "-V")
    with pytest.raises(ProgramMissing, match="no-such-thing"):
        images.shell(asked("busybox", "no-such-thing"))


# ------------------------------------------------------------------ addresses
def test_an_address_is_the_same_for_the_same_name(tmp_path: Path) -> None:
    file = tmp_path / "addresses.json"
    first = Addresses("c", file, is_usable=lambda _: True)
    taken = {name: first.take(name) for name in ("ns/a", "ns/b", "other/a")}
    again = Addresses("c", file, is_usable=lambda _: True)

    assert {name: again.take(name) for name in reversed(taken)} == taken
    assert len(set(taken.values())) == 3
    assert all(it.startswith("127.") and it != "127.0.0.1" for it in taken.values())


def test_names_that_want_one_address_are_told_apart_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        addresses, "candidate", lambda _salt, _name, attempt=0: f"127.1.1.{attempt + 1}"
    )
    file = tmp_path / "addresses.json"
    book = Addresses("c", file, is_usable=lambda it: it != "127.1.1.2")
    assert [book.take(name) for name in ("a", "b", "a")] == ["127.1.1.1", "127.1.1.3", "127.1.1.1"]
    assert Addresses("c", file, is_usable=lambda _: True).take("b") == "127.1.1.3"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "b": "127.0.0.1", "c": "10.0.0.1"}'])
def test_a_book_that_makes_no_sense_is_begun_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert (
        Addresses("c", tmp_path / "a.json", is_usable=lambda _: True).take("a").startswith("127.")
    )


def test_the_book_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "REMEMBERED", 3)
    book = Addresses("c", tmp_path / "a.json", is_usable=lambda _: True)
    kept = book.take("kept")
    for number in range(10):
        book.take(f"pod-{number}")
        book.release(f"pod-{number}")
    assert book.take("kept") == kept
    assert len(json.loads((tmp_path / "a.json").read_text())) <= 4


def test_no_address_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be free"):
        Addresses("c", tmp_path / "a.json", is_usable=lambda _: False).take("a")
    assert addresses.can_bind("127.7.7.7")
    assert not addresses.can_bind("192.0.2.1")
