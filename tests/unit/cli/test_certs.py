"""`stateward certs`: what it prints is believed by Python's TLS, and by the operator."""

from __future__ import annotations

import ssl
import time
from base64 import b64decode
from pathlib import Path

import pytest
import yaml

from stateward.app import certs
from stateward.cli.main import main
from stateward.etcd import pems
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.validation import problems
from stateward.kube.codec import decode, encode
from stateward.kube.meta import ObjectKey

NOW = 1_800_000_000.0
SHOP = ObjectKey("trade", "shop")


def files(*, now: float = NOW, **more: object) -> dict[str, dict[str, bytes]]:
    """Return the files of every secret."""
    made = certs.secrets(certs.Wish(SHOP, **({"days": 30} | more)), now)  # type: ignore[arg-type]
    return {
        it["metadata"]["name"]: {name: b64decode(text) for name, text in it["data"].items()}
        for it in made
    }


def context(purpose: int, folder: Path, mine: dict[str, bytes], theirs: bytes) -> ssl.SSLContext:
    for name, content in mine.items():
        (folder / name).write_bytes(content)
    made = ssl.SSLContext(purpose)
    made.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    made.load_verify_locations(cadata=theirs.decode())
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Let two sides meet in memory; raise what they hold against each other."""
    pipes = [ssl.MemoryBIO() for _ in range(2)]
    sides = [
        client.wrap_bio(pipes[0], pipes[1], server_hostname=name),
        server.wrap_bio(pipes[1], pipes[0], server_side=True),
    ]
    left = set(sides)
    for _ in range(10):
        for side in sides:
            if side in left:
                try:
                    side.do_handshake()
                    left.discard(side)
                except ssl.SSLWantReadError:
                    pass
        if not left:
            return
    raise AssertionError("no end")


NAMES = {
    "shop-peer": ["shop-2.shop-headless.trade.svc", "shop-0.shop-headless.trade.svc.cluster.local"],
    "shop-server": ["shop.trade.svc", "shop-1.shop-headless.trade.svc", "localhost", "10.9.8.7"],
}


@pytest.mark.parametrize(
    ("secret", "name"), [(k, it) for k, every in NAMES.items() for it in every]
)
def test_members_are_believed_by_the_names_that_they_have(tmp_path: Path, secret, name):
    made = files(now=time.time(), hosts=("10.9.8.7",))
    authority = made["shop-ca"]["ca.crt"]
    server = context(ssl.PROTOCOL_TLS_SERVER, tmp_path, made[secret], authority)
    client = context(ssl.PROTOCOL_TLS_CLIENT, tmp_path, made["shop-root"], authority)

    handshake(server, client, name)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, client, "bank-0.bank-headless.trade.svc")


def test_the_operator_finds_no_flaw_and_the_spec_is_valid():
    for name, content in files().items():
        assert pems.flaw(content, NOW) == "", name
    assert "expired" in pems.flaw(files()["shop-peer"], NOW + 31 * 86_400)

    tls = certs.settings("shop")
    assert set(tls.values()) == set(files())
    body = {"metadata": {"name": "shop"}, "spec": {"security": {"tls": tls, "enableAuth": True}}}
    assert problems(decode(encode(body), EtcdCluster)) == ()


def test_a_kept_authority_signs_again(tmp_path: Path):
    first, again = files(folder=tmp_path), files(folder=tmp_path)
    assert first["shop-ca"] == again["shop-ca"]
    assert first["shop-peer"]["tls.crt"] != again["shop-peer"]["tls.crt"]
    assert files()["shop-ca"] != first["shop-ca"]
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600


def spoil(folder: Path, **content: bytes | None) -> None:
    for name, text in content.items():
        path = folder / f"ca.{name}"
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text)


@pytest.mark.parametrize(
    "content",
    [{"key": None}, {"crt": None}, {"crt": b"odd"}, {"key": b"odd"}],
    ids=["no key", "no certificate", "odd certificate", "odd key"],
)
def test_half_an_authority_is_refused_and_not_written_over(tmp_path: Path, capsys, content):
    files(folder=tmp_path)
    spoil(tmp_path, **content)
    before = {it.name: it.read_bytes() for it in tmp_path.iterdir()}

    assert main(["certs", "shop", "--folder", str(tmp_path)]) == 2
    assert "must hold an authority, ca.crt and ca.key, or neither" in capsys.readouterr().err
    assert {it.name: it.read_bytes() for it in tmp_path.iterdir()} == before


def test_an_authority_of_somebody_else_is_refused(tmp_path: Path, capsys):
    files(folder=tmp_path / "one")
    files(folder=tmp_path / "two")
    (tmp_path / "one" / "ca.key").write_bytes((tmp_path / "two" / "ca.key").read_bytes())

    assert main(["certs", "shop", "--folder", str(tmp_path / "one")]) == 2
    assert "the key must be that of the certificate" in capsys.readouterr().err


def test_an_authority_of_another_cluster_is_refused(tmp_path: Path, capsys):
    files(folder=tmp_path)
    assert main(["certs", "other", "--namespace", "trade", "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "must be that of trade/other, and is of trade/shop: who is root by it" in said


def test_a_key_that_others_can_read_is_refused(tmp_path: Path, capsys):
    files(folder=tmp_path)
    (tmp_path / "ca.key").chmod(0o644)
    assert main(["certs", "shop", "--namespace", "trade", "--folder", str(tmp_path)]) == 2
    assert "ca.key must be readable by you alone; chmod 600" in capsys.readouterr().err


def test_an_authority_that_ends_first_is_refused(tmp_path: Path):
    files(folder=tmp_path)
    with pytest.raises(Exception, match="ends before 3650 days are over"):
        files(folder=tmp_path, now=NOW + 86_400, days=3650)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["certs", "Shop"], "CLUSTER must"),
        (["certs", "shop", "--namespace", "a/b"], "--namespace must"),
        (
            ["certs", "shop", "--host", "shop:2379"],
            "--host must be a name of a host, or an address",
        ),
        (["certs", "shop", "--host", "a b"], "--host must be a name of a host, or an address"),
        (["certs", "shop", "--days", "0"], "--days"),
        (["certs"], "CLUSTER"),
    ],
)
def test_misuse_is_one_sentence(capsys, arguments, words):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_it_prints_secrets_and_what_the_spec_must_say(capsys):
    assert main(["certs", "shop", "--namespace", "trade"]) == 0
    said = capsys.readouterr()
    names = [it["metadata"]["name"] for it in yaml.safe_load_all(said.out)]
    assert names == ["shop-ca", "shop-peer", "shop-server", "shop-root"]
    assert yaml.safe_load(said.err.partition("\n")[2])["spec"]["security"]["tls"] == certs.settings(
        "shop"
    )


# -------------------------------------------------------------------------- what the docs say

DOCUMENT = Path(__file__).parents[3] / "docs" / "etcd" / "tls.md"


def test_the_example_for_cert_manager_asks_for_the_same():
    text = DOCUMENT.read_text(encoding="utf-8").partition("## With cert-manager")[2].split("```")[1]
    every = list(yaml.safe_load_all(text))
    asked = {it["spec"]["secretName"]: it["spec"] for it in every if it["kind"] == "Certificate"}
    (cluster,) = (it for it in every if it["kind"] == "EtcdCluster")

    assert problems(decode(encode(cluster), EtcdCluster)) == ()
    assert cluster["spec"]["security"]["tls"] == certs.settings("shop")
    assert set(asked) == set(certs.settings("shop").values())
    names = {
        name: [*it.get("dnsNames", ()), *it.get("ipAddresses", ())] for name, it in asked.items()
    }
    assert names["shop-peer"] == certs._peer_names(SHOP)
    assert names["shop-server"] == [*certs._peer_names(SHOP), *certs._server_names(SHOP)]
    assert asked["shop-root"]["commonName"] == "root"


def test_long_names_fit_into_a_certificate() -> None:
    long = ObjectKey("n" * 63, "c" * 63)
    made = certs.secrets(certs.Wish(long, 30), NOW)
    assert len(made) == 4
