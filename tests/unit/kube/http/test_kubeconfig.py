"""Where the cluster is, read from every kind of kubeconfig; and what is said about the broken ones."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stateward.core.errors import UsageError
from stateward.kube.http import kubeconfig_files
from stateward.kube.http.access import (
    Anonymous,
    BearerToken,
    ClusterAccess,
    ExecPlugin,
    Impersonation,
    PemFile,
    PemText,
    TokenFile,
    UserPassword,
)
from stateward.kube.http.kubeconfig import find_access

SERVER = "https://10.0.0.1:6443"
V1 = "client.authentication.k8s.io/v1"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def config(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A kubeconfig of one context, ``dev``."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u", **(context or {})}}],
        "clusters": [{"name": "c", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        **more,
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".kube").mkdir()
    return tmp_path


def write(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    return path


def access(home: Path, document: Any, *, context: str = "", **environment: str) -> ClusterAccess:
    write(home / ".kube" / "config", document)
    return find_access({"HOME": str(home), **environment}, context=context)


def complaint(home: Path, document: Any, *, context: str = "", **environment: str) -> str:
    with pytest.raises(UsageError) as caught:
        access(home, document, context=context, **environment)
    error = caught.value
    assert error.hint, "an error must say what to do"
    assert "\n" not in error.sentence()
    assert error.__cause__ is None
    return error.sentence()


# ---------------------------------------------------------------------------- finding the file


def test_the_usual_place(home: Path) -> None:
    found = access(home, config(context={"namespace": "shop"}))

    assert (found.server, found.namespace) == (SERVER, "shop")
    assert found.origin == f"context dev of {home}/.kube/config"
    assert found.credentials == Anonymous()


def test_an_explicit_file_wins(home: Path) -> None:
    write(home / "a", config({"server": "https://a"}))
    write(home / "b", config({"server": "https://b"}))

    assert find_access({"KUBECONFIG": str(home / "b")}, path=str(home / "a")).server == "https://a"
    assert find_access({"HOME": str(home)}, path="~/b").server == "https://b"


def test_several_files_are_merged_and_the_first_decides(home: Path) -> None:
    (home / "x").mkdir()
    first = config({"server": "https://first", "certificate-authority": "ca.pem"})
    first["users"] = None
    second = config({"server": "https://second", "proxy-url": "http://p:1"}, {"token": "t"})
    second["current-context"] = "other"
    paths = [home / "gone", write(home / "x" / "first", first), write(home / "second", second)]

    found = find_access({"KUBECONFIG": ":".join(map(str, ["", *paths]))})

    assert found.server == "https://first"
    assert found.proxy == ""
    assert found.tls.authority == PemFile(home / "x" / "ca.pem")
    assert found.credentials == BearerToken("t")


def test_a_list_of_files_none_of_which_exists(home: Path) -> None:
    with pytest.raises(UsageError, match=r"kubeconfig .*/gone must exist"):
        find_access({"KUBECONFIG": f"{home}/gone:{home}/lost", "HOME": str(home)})


def test_nothing_anywhere(home: Path) -> None:
    for environment in ({}, {"HOME": str(home)}, {"KUBECONFIG": "", "HOME": str(home / "x")}):
        with pytest.raises(UsageError, match="a cluster must be configured"):
            find_access(environment)


# ---------------------------------------------------------------------------- broken files


def test_a_directory(home: Path) -> None:
    with pytest.raises(UsageError, match="must be a file, but it is a directory"):
        find_access({}, path=str(home))


def test_a_file_we_may_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert "must be readable: Permission denied" in complaint(home, config())


def test_a_home_we_may_not_look_into(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", denied)

    assert kubeconfig_files.is_there(home)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("users: [s3cret\nx: y", " near line 2, column 2;"),
        ("token: *s3cret", " near line 1, column 8;"),
        ("a: &a [*a]", ";"),
        ("a: \udcff".encode("utf-8", "surrogateescape").decode("latin-1"), ""),
        ("x: \x01", ""),
    ],
)
def test_yaml_that_is_broken(home: Path, text: str, place: str) -> None:
    said = complaint(home, text)

    assert place in said
    assert "s3cret" not in said


def test_bytes_that_are_no_text(home: Path) -> None:
    (home / "bad").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(UsageError, match="must be YAML"):
        find_access({}, path=str(home / "bad"))


@pytest.mark.parametrize(("text", "kind"), [("- a", "list"), ("hello", "str"), ("7", "int")])
def test_a_top_level_that_is_no_mapping(home: Path, text: str, kind: str) -> None:
    assert f"its top level is a {kind}" in complaint(home, text)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (config(user={"token": 5}), "$.users[0].user.token"),
        (config(contexts="dev"), "$.contexts"),
        (config(contexts=[{"context": {}}]), "`name` - at `$.contexts[0]`"),
        (config({"insecure-skip-tls-verify": "yes please"}), "insecure-skip-tls-verify"),
    ],
)
def test_a_field_of_the_wrong_type(home: Path, document: Any, place: str) -> None:
    assert place in complaint(home, document)


# ---------------------------------------------------------------------------- choosing a context


def test_a_context_by_name(home: Path) -> None:
    document = config()
    document["contexts"].append({"name": "prod", "context": {"cluster": "p"}})
    document["clusters"].append({"name": "p", "cluster": {"server": "https://prod/"}})

    found = access(home, document, context="prod")

    assert (found.server, found.namespace) == ("https://prod", "default")


@pytest.mark.parametrize(
    ("change", "context", "said"),
    [
        ({}, "dve", "must have the context 'dve'; choose one with --context (did you mean dev?"),
        ({}, "zzz", "choose one with --context (dev)"),
        ({"current-context": "gone"}, "", "'gone', which it calls current"),
        ({"current-context": ""}, "", "must say which context is current"),
        ({"current-context": "", "contexts": []}, "", "(it has none)"),
        ({"clusters": []}, "", "the cluster 'c' of context 'dev' in"),
        ({"users": [{"name": "uu"}]}, "", "the user 'u' of context 'dev' in"),
        ({"contexts": [{"name": "dev", "context": {}}]}, "", "must name a cluster"),
    ],
)
def test_a_context_that_leads_nowhere(
    home: Path, change: dict[str, Any], context: str, said: str
) -> None:
    assert said in complaint(home, config(**change), context=context)


def test_an_empty_file(home: Path) -> None:
    assert "must say which context is current" in complaint(home, "")


# ---------------------------------------------------------------------------- clusters


@pytest.mark.parametrize(
    "server",
    [
        "10.0.0.1:6443",
        "ftp://x",
        "https://",
        "https://x:port",
        "https://x:99999",
        "https://x?y",
        "https://x y",
        "https://ä",
        "https://u:s3cret@x",
    ],
)
def test_a_server_that_is_no_address(home: Path, server: str) -> None:
    said = complaint(home, config({"server": server}))

    assert "clusters[c].cluster.server in" in said
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("server", "meant"),
    [
        ("https://10.0.0.1:6443/", "https://10.0.0.1:6443"),
        ("HTTPS://api.example/k8s/clusters/c-1", "https://api.example/k8s/clusters/c-1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_server(home: Path, server: str, meant: str) -> None:
    assert access(home, config({"server": server})).server == meant


def test_no_server(home: Path) -> None:
    assert "clusters[c].cluster.server in" in complaint(home, config({"server": None}))


def test_tls(home: Path) -> None:
    found = access(
        home,
        config(
            {
                "certificate-authority": "ignored.pem",
                "certificate-authority-data": encoded("ca")[:2] + "\n" + encoded("ca")[2:],
                "tls-server-name": "kubernetes",
            },
            {"client-certificate": "/abs/c.pem", "client-key-data": encoded("k3y")},
        ),
    )

    assert found.tls.authority == PemText(b"ca")
    assert found.tls.certificate == PemFile(Path("/abs/c.pem"))
    assert found.tls.key == PemText(b"k3y")
    assert found.tls.server_name == "kubernetes"
    assert found.tls.verify
    assert "k3y" not in repr(found)


def test_verification_is_off_only_when_asked(home: Path) -> None:
    assert not access(home, config({"insecure-skip-tls-verify": True})).tls.verify
    both = config({"insecure-skip-tls-verify": True, "certificate-authority": "ca.pem"})
    assert "and it does both" in complaint(home, both)


@pytest.mark.parametrize(
    ("entry", "user", "said"),
    [
        ({"certificate-authority-data": "%%%"}, {}, "certificate-authority-data of 'c' in"),
        ({}, {"client-certificate-data": "a", "client-key": "k"}, "must be base64"),
        ({}, {"client-key-data": "é", "client-certificate": "c"}, "client-key-data of 'u' in"),
        ({}, {"client-certificate": "c"}, "users[u].user.client-key in"),
        ({}, {"client-key": "k"}, "users[u].user.client-certificate in"),
    ],
)
def test_tls_that_is_broken(home: Path, entry: Any, user: Any, said: str) -> None:
    assert said in complaint(home, config(entry, user))


# ---------------------------------------------------------------------------- proxies


def test_a_proxy(home: Path) -> None:
    url = "http://ann:s3cret@proxy:3128"
    found = access(home, config({"proxy-url": url}), HTTPS_PROXY="http://other")

    assert found.proxy == url
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("url", ["socks5://u:s3cret@p:1", "proxy:3128", "http://", "http://x:y"])
def test_a_proxy_of_another_kind(home: Path, url: str) -> None:
    said = complaint(home, config({"proxy-url": url}))

    assert "clusters[c].cluster.proxy-url in" in said
    assert "s3cret" not in said


def test_a_proxy_of_the_environment_of_another_kind(home: Path) -> None:
    said = complaint(home, config(), HTTPS_PROXY="socks5://x:1")

    assert "the environment variable HTTPS_PROXY must be" in said


# ---------------------------------------------------------------------------- users


@pytest.mark.parametrize(
    ("user", "credentials"),
    [
        ({"token": "t"}, BearerToken("t")),
        ({"token": "t", "username": "ann"}, BearerToken("t")),
        ({"username": "ann", "password": "p"}, UserPassword("ann", "p")),
        ({"exec": None}, Anonymous()),
    ],
)
def test_ways_to_log_in(home: Path, user: dict[str, Any], credentials: Any) -> None:
    assert access(home, config(user=user)).credentials == credentials


def test_a_token_file_is_relative_to_the_kubeconfig(home: Path) -> None:
    found = access(home, config(user={"tokenFile": "tokens/a", "token": "older"}))

    assert found.credentials == TokenFile(home / ".kube" / "tokens" / "a")


def test_impersonation(home: Path) -> None:
    user = {"as": "ann", "as-uid": "7", "as-groups": ["dev"], "as-user-extra": {"k": ["a", "b"]}}

    found = access(home, config(user=user)).impersonation

    assert found == Impersonation("ann", "7", ("dev",), (("k", "a"), ("k", "b")))


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ({"auth-provider": {"name": "gcp"}}, "which Kubernetes removed"),
        ({"token": "s3cret\nX-Evil: 1"}, "users[u].user.token in"),
        ({"as": "ann\r\n"}, "users[u].user.as in"),
        ({"as-groups": ["dev"]}, "users[u].user.as in"),
        ({"exec": {"command": "x"}}, "apiVersion in"),
        ({"exec": {"apiVersion": V1 + "alpha1", "command": "x"}}, f"must be {V1} or"),
        ({"exec": {"apiVersion": V1}}, "users[u].user.exec.command in"),
        (
            {"exec": {"apiVersion": V1, "command": "x", "interactiveMode": "Always"}},
            "must be Never or IfAvailable",
        ),
    ],
)
def test_users_who_cannot_log_in(home: Path, user: dict[str, Any], said: str) -> None:
    sentence = complaint(home, config(user=user))

    assert said in sentence
    assert "s3cret" not in sentence


def plugin(home: Path, asked: dict[str, Any], cluster: dict[str, Any] | None = None) -> ExecPlugin:
    user = {"exec": {"apiVersion": V1, "command": "login", **asked}}
    found = access(home, config(cluster, user), PATH="/bin", A="1").credentials
    assert isinstance(found, ExecPlugin)
    return found


def test_a_plugin(home: Path) -> None:
    env = [{"name": "A", "value": "2"}, {"name": "SECRET", "value": "s3cret"}]
    found = plugin(home, {"args": ["get", "s3cret"], "env": env, "installHint": "brew it"})

    assert (found.api_version, found.command) == (V1, "login")
    assert found.arguments == ("get", "s3cret")
    assert found.install_hint == "brew it"
    environment = dict(found.environment)
    question = json.loads(environment.pop("KUBERNETES_EXEC_INFO"))
    assert environment == {"HOME": str(home), "PATH": "/bin", "A": "2", "SECRET": "s3cret"}
    assert question == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }
    assert "s3cret" not in repr(found)


def test_a_plugin_is_told_about_the_cluster(home: Path) -> None:
    write(home / ".kube" / "ca.pem", "CA")
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    found = plugin(
        home,
        {"provideClusterInfo": True, "env": None, "args": None},
        {
            "certificate-authority": "ca.pem",
            "tls-server-name": "api",
            "extensions": [{"name": "other", "extension": 1}, extension],
        },
    )

    assert json.loads(dict(found.environment)["KUBERNETES_EXEC_INFO"])["spec"]["cluster"] == {
        "server": SERVER,
        "tls-server-name": "api",
        "certificate-authority-data": encoded("CA"),
        "config": {"audience": "x"},
    }


def test_a_plugin_cannot_be_told_about_an_authority_that_is_not_there(home: Path) -> None:
    user = {"exec": {"apiVersion": V1, "command": "login", "provideClusterInfo": True}}

    said = complaint(home, config({"certificate-authority": "gone.pem"}, user))

    assert f"certificate-authority {home}/.kube/gone.pem must be readable" in said


@pytest.mark.parametrize(
    ("command", "started"),
    [("login", "login"), ("./login", ".kube/login"), ("/x/login", "/x/login")],
)
def test_a_plugin_with_a_path_is_relative_to_the_kubeconfig(
    home: Path, command: str, started: str
) -> None:
    found = plugin(home, {"command": command}).command

    assert found == (str(home / started) if started.startswith(".") else started)


def test_nothing_secret_is_shown(home: Path) -> None:
    document = config(user={"token": "s3cret", "password": "s3cret"})
    merged = kubeconfig_files.read_merged([write(home / "a", document)])

    assert "s3cret" not in repr(merged) + repr(access(home, document))
    assert merged.users["u"].entry.__rich_repr__() == []


def test_a_kubeconfig_wins_over_a_service_account(home: Path) -> None:
    pod = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}

    assert access(home, config(), **pod).server == SERVER
