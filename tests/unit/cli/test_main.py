"""Bad input gets one sentence and an exit code; never a traceback."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fakes.programs import saying
from stateward.cli.main import main

KUBECONFIG = {
    "current-context": "here",
    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {}}],
}


def kubeconfig(folder: Path, **changes: object) -> str:
    file = folder / "config"
    file.write_text(yaml.safe_dump({**KUBECONFIG, **changes}))
    return str(file)


def plugin(command: str, *arguments: str) -> list[dict[str, object]]:
    call = {"apiVersion": "client.authentication.k8s.io/v1", "command": command}
    asks = {"args": list(arguments), "interactiveMode": "Never"}
    return [{"name": "u", "user": {"exec": {**call, **asks}}}]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert captured.err.startswith("stateward: ")
    assert captured.err.count("\n") == 1, "one sentence, one line"
    assert "Traceback" not in captured.err
    return code, captured.err


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out

    assert all(command in shown for command in ("crds", "demo", "doctor", "operator", "validate"))


def test_version(capsys):
    assert main(["--version"]) == 0
    assert "stateward" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bogus"], "--bogus"),
        (["docter"], "docter"),
        (["doctor", "--timeout", "soon"], "soon"),
        (["doctor", "--contxt", "x"], "--contxt"),
        (["doctor", "--timeout", "inf"], "inf"),
        (["doctor", "--timeout", "-1"], "-1"),
        (["validate"], "FILES"),
        (["doctor", "--kubeconfig", "/nowhere/config"], "/nowhere/config"),
        (["validate", "/nowhere.yaml"], "/nowhere.yaml"),
        (["crds", "--out", "/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_misuse_is_exit_code_2(capsys, arguments, words):
    code, sentence = complaint(capsys, *arguments)

    assert code == 2
    assert words in sentence


def test_an_unknown_context_lists_the_known_ones(capsys, tmp_path):
    code, sentence = complaint(
        capsys, "doctor", "--kubeconfig", kubeconfig(tmp_path), "--context", "hree"
    )

    assert code == 2
    assert "hree" in sentence
    assert "here" in sentence


def test_a_malformed_kubeconfig_says_where(capsys, tmp_path):
    broken = tmp_path / "config"
    broken.write_text("contexts: [\n  {name: x\n")

    code, sentence = complaint(capsys, "doctor", "--kubeconfig", str(broken))

    assert code == 2
    assert str(broken) in sentence
    assert "line" in sentence or ":" in sentence.split(str(broken))[1]


def test_an_unreadable_kubeconfig_says_so(capsys, tmp_path):
    locked = Path(kubeconfig(tmp_path))
    locked.chmod(0)
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)  # root reads everything, so ask as nobody
    try:
        code, sentence = complaint(capsys, "doctor", "--kubeconfig", str(locked))
    finally:
        os.seteuid(was)

    assert code == 2
    assert "readable" in sentence


def test_a_folder_is_no_kubeconfig(capsys, tmp_path):
    code, sentence = complaint(capsys, "doctor", "--kubeconfig", str(tmp_path))

    assert code == 2
    assert str(tmp_path) in sentence


def test_a_plugin_that_fails_is_quoted(capsys, tmp_path):
    script = tmp_path / "login"
    script.write_text("#!/bin/sh\necho please log in first >&2\nexit 3\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)

    code, sentence = complaint(
        capsys, "doctor", "--kubeconfig", kubeconfig(tmp_path, users=plugin(str(script)))
    )

    assert code == 1
    assert "please log in first" in sentence


def test_a_plugin_that_is_not_there_is_misuse(capsys, tmp_path):
    code, sentence = complaint(
        capsys, "doctor", "--kubeconfig", kubeconfig(tmp_path, users=plugin("no-such-plugin"))
    )

    assert code == 2
    assert "no-such-plugin" in sentence


def test_a_plugin_that_hangs_is_given_up(capsys, tmp_path):
    hanging = kubeconfig(tmp_path, users=plugin("sleep", "60"))

    code, sentence = complaint(capsys, "doctor", "--kubeconfig", hanging, "--timeout", "0.3")

    assert code == 1
    assert "within 0.3 s" in sentence


def test_one_unreadable_file_does_not_hide_the_others(capsys, tmp_path):
    good = tmp_path / "good.yaml"
    good.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")

    assert main(["validate", "/nowhere.yaml", str(good)]) == 2
    captured = capsys.readouterr()
    assert "1 of 1 manifests are fine" in captured.out
    assert "/nowhere.yaml" in captured.err


def test_a_full_disk_is_said_in_one_sentence():
    command = f"{sys.executable} -m stateward crds > /dev/full"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=60
    )

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "writable" in ended.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y must be usable: Permission denied"),
        (OSError(24, "Too many open files"), "the system must let us do our work: Too many open files"),
    ],
    ids=["a file", "nothing named"],
)  # fmt: skip
def test_what_the_system_refuses_is_not_blamed_on_the_output(
    capsys, monkeypatch, error: OSError, sentence: str
):
    def refuse(*_args: object, **_more: object) -> None:
        raise error

    monkeypatch.setattr("stateward.cli.main.stateward.main", refuse)

    assert complaint(capsys, "crds") == (1, f"stateward: {sentence}\n")


def test_a_server_that_is_not_there_is_failure(capsys, tmp_path):
    code, sentence = complaint(capsys, "doctor", "--kubeconfig", kubeconfig(tmp_path))

    assert code == 1
    assert "127.0.0.1:1" in sentence


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("etcd Version: 3.6.9", "✔ for local clusters: etcd 3.6.9 from PATH\n"),
        ("etcd Version: 3.5.1", "✔ for local clusters: etcd 3.5.1 from PATH (etcd 3.5.0 to 3.5.2 can lose"),
        ("no etcd", "- for local clusters: no etcd; `stateward local get-etcd` fetches one\n"),
    ],
)  # fmt: skip
def test_the_etcds_of_this_machine_are_listed(capsys, monkeypatch, tmp_path, says: str, told: str):
    saying(tmp_path / "bin" / "etcd", says)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("STATEWARD_ETCD_BIN", raising=False)
    monkeypatch.setattr("stateward.app.etcd.available.find_spec", lambda _name: None)

    assert main(["doctor", "--kubeconfig", kubeconfig(tmp_path)]) == 1
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("says", "code", "told"),
    [
        ("etcd Version: 3.6.9", 0, "doctor: all is well for a local cluster"),
        ("no etcd", 1, "doctor: there must be a cluster, or an etcd to run on a local one"),
    ],
)
def test_without_a_cluster_an_etcd_is_enough(capsys, monkeypatch, tmp_path, says, code, told):
    saying(tmp_path / "bin" / "etcd", says)
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "STATEWARD_ETCD_BIN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "", "XDG_CACHE_HOME": "", "PATH": "bin"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setattr("stateward.app.etcd.available.find_spec", lambda _name: None)

    assert main(["doctor"]) == code
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == [
        "- no cluster: there is no kubeconfig; `stateward local up` starts a cluster here",
        told,
    ]


@pytest.mark.parametrize("named", ["--kubeconfig", "KUBECONFIG"])
def test_a_cluster_that_was_named_must_be_there(capsys, monkeypatch, named):
    words = ["--kubeconfig", "/nowhere"] if named.startswith("-") else []
    monkeypatch.setenv("KUBECONFIG", "/nowhere")

    code, sentence = complaint(capsys, "doctor", *words)

    assert (code, "/nowhere must exist" in sentence) == (2, True)


def test_only_what_users_run_is_defined_unless_they_want_the_example(capsys, tmp_path):
    assert main(["crds"]) == 0
    kinds = [
        *("EtcdCluster", "FoundationDBCluster", "FoundationDBProcessGroup"),
        *("FoundationDBBackup", "FoundationDBRestore"),
    ]
    assert defined(capsys.readouterr().out) == kinds
    assert main(["crds", "--example"]) == 0
    assert defined(capsys.readouterr().out) == [*kinds, "Team"]
    assert main(["crds", "--out", str(tmp_path)]) == 0
    assert sorted(it.name for it in tmp_path.iterdir()) == [
        "etcdclusters.etcd.aenix.io.yaml",
        "foundationdbbackups.apps.foundationdb.org.yaml",
        "foundationdbclusters.apps.foundationdb.org.yaml",
        "foundationdbprocessgroups.apps.foundationdb.org.yaml",
        "foundationdbrestores.apps.foundationdb.org.yaml",
    ]


def defined(text: str) -> list[str]:
    return [it["spec"]["names"]["kind"] for it in yaml.safe_load_all(text)]


def test_where_nothing_could_be_read_nothing_is_counted(capsys, tmp_path):
    assert main(["validate", str(tmp_path / "none.yaml")]) == 2

    said = capsys.readouterr()
    assert (said.out, said.err.count("must be readable: No such file")) == ("", 1)


def test_a_typo_in_a_manifest_is_found(capsys, monkeypatch):
    text = "apiVersion: example.stateward.dev/v1alpha1\nkind: Team\nmetadata: {name: a}\nspec: {sizze: 1}\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    assert main(["validate", "-"]) == 1
    assert "spec.sizze: there is no such field; did you mean size?" in capsys.readouterr().out


def test_malformed_yaml_is_misuse(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("a: ["))

    code, sentence = complaint(capsys, "validate", "-")

    assert code == 2
    assert "the YAML is broken" in sentence


def test_a_reader_that_leaves_early_is_no_trouble():
    command = f"{sys.executable} -m stateward crds | head -n 1"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=True, timeout=60
    )

    assert ended.stdout == "---\n"
    assert ended.stderr == ""
