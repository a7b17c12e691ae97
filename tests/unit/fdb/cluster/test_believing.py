"""Who refuses whom with TLS is found before anybody starts by it, and is said with its name."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from fakes import fdb_tls
from stateward.core import pems
from stateward.core.peers.meeting import Side, meet
from stateward.fdb.api.papers import Reader
from stateward.fdb.cluster.believing import Shown, flaws

NOW = fdb_tls.BEGIN.timestamp()
SIGNER, STRANGER = fdb_tls.authority(), fdb_tls.authority()
LATE = fdb_tls.authority(fdb_tls.BEGIN - timedelta(days=900), days=30)


def side(held: dict[str, bytes], *authorities: dict[str, bytes]) -> Side:
    believed = b"\n".join(it["ca.crt"] for it in authorities or (held,))
    return Side(held["tls.crt"], held["tls.key"], believed)


GOOD = fdb_tls.files(SIGNER)
OTHER = fdb_tls.files(STRANGER)
OLD = fdb_tls.files(LATE)
OPERATOR = fdb_tls.files(SIGNER, name="operator")
MAIN, BESIDE = "foundationdb", "foundationdb-kubernetes-sidecar"


def shown(it: Side, rules: str = "", name: str = MAIN) -> Shown:
    return Shown(it, "secret a/b: tls.crt", "secret a/b: ca.crt", Reader({}, name, rules=rules))


class Case(NamedTuple):
    """What a container shows, what the operator does, and what is said of it; empty: nothing."""

    shown: Shown
    own: Side | None
    says: str


CASES: dict[str, Case] = {
    "all is well": Case(shown(side(GOOD)), side(OPERATOR), ""),
    "nobody can look at the operator's": Case(shown(side(GOOD)), None, ""),
    "signed by another": Case(
        shown(side(GOOD, OTHER)),
        None,
        "tls.crt must be signed by secret a/b: ca.crt, and is by CN=",
    ),
    "the old authority and the new one": Case(shown(side(GOOD, OTHER, GOOD)), None, ""),
    "an authority that is over": Case(
        shown(side(OLD)), None, "ca.crt must have an authority that is good for now, and has none"
    ),
    "one that is over, beside a good one": Case(shown(side(GOOD, OLD, GOOD)), None, ""),
    "rules that it fulfils": Case(shown(side(GOOD), "S.CN=shop"), None, ""),
    "rules that it does not fulfil": Case(
        shown(side(GOOD), "S.CN=store"),
        None,
        "tls.crt must fulfil spec.mainContainer.peerVerificationRules, since processes show it to"
        " each other: S.CN=store",
    ),
    "alternatives": Case(shown(side(GOOD), "S.CN=store|S.CN=shop"), None, ""),
    "rules that the operator does not fulfil": Case(
        shown(side(GOOD), "S.CN=shop"),
        side(OPERATOR),
        "the operator's own certificate (FDB_TLS_CERTIFICATE_FILE) must fulfil"
        " spec.mainContainer.peerVerificationRules: S.CN=shop",
    ),
    "rules that both fulfil": Case(
        shown(side(GOOD), "S.CN=shop|S.CN=operator"), side(OPERATOR), ""
    ),
    "rules of sidecars concern who asks": Case(
        shown(side(GOOD), "S.CN=operator", BESIDE), side(OPERATOR), ""
    ),
    "rules of sidecars that the operator does not fulfil": Case(
        shown(side(GOOD), "S.CN=shop", BESIDE),
        side(OPERATOR),
        "must fulfil spec.sidecarContainer.peerVerificationRules",
    ),
    "rules about the root, which nobody sees": Case(shown(side(GOOD), "R.CN=who"), None, ""),
    "anybody is believed": Case(shown(side(GOOD, OTHER), "Check.Valid=0"), None, ""),
    "the operator believes others": Case(
        shown(side(GOOD)),
        side(OPERATOR, OTHER),
        "tls.crt must be signed by the operator's own authority (FDB_TLS_CA_FILE), and is by CN=",
    ),
    "the operator's is signed by another": Case(
        shown(side(GOOD)),
        side(OTHER, GOOD),
        "(FDB_TLS_CERTIFICATE_FILE) must be signed by secret a/b: ca.crt, and is by CN=",
    ),
    "the operator's is over": Case(
        shown(side(GOOD)),
        side(fdb_tls.files(SIGNER, fdb_tls.BEGIN - timedelta(days=9), days=1)),
        "must be good for now, and has expired",
    ),
    "a key that is another's is said elsewhere": Case(
        shown(replace(side(GOOD), key=OTHER["tls.key"])), None, ""
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_refused(name: str) -> None:
    case = CASES[name]
    said = list(flaws(case.shown, case.own, NOW))
    if not case.says:
        assert said == []
        return
    (words,) = said
    assert case.says in words
    assert "BEGIN" not in words


def test_who_signed_is_read_from_a_certificate() -> None:
    assert pems.issuer(GOOD["tls.crt"]) == "CN=tests"
    assert pems.issuer(b"hello") == ""
    assert pems.issuer(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----") == ""


def for_servers() -> Side:
    """Return what is good for servers alone, as public authorities sign it."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Shop"),
            x509.NameAttribute(NameOID.COMMON_NAME, "web"),
        ]
    )
    use = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    signed = (
        x509.CertificateBuilder(who, who, key.public_key(), 7)
        .not_valid_before(fdb_tls.BEGIN - timedelta(days=1))
        .not_valid_after(fdb_tls.BEGIN + timedelta(days=9))
        .add_extension(use, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    text = signed.public_bytes(pem)
    return Side(text, kept, text)


def test_one_for_servers_alone_does_not_do() -> None:
    held = for_servers()
    assert pems.issuer(held.certificate) == "O=Shop,CN=web"
    (words,) = flaws(shown(held), None, NOW)
    assert "must be good for servers and for clients, and is not" in words


def test_papers_that_cannot_be_used_are_no_ones_refusal() -> None:
    met = meet(Side(b"", b"", GOOD["ca.crt"]), side(GOOD))
    assert met.impossible
    assert not met.refused_client + met.refused_server
