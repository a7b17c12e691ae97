"""Secrets with certificates: what is in them is judged before a member stumbles over it."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import trustme

from fakes.etcd_views import picture
from fakes.six_secrets import TLS
from stateward.core import moments
from stateward.etcd.api.kind import EtcdCluster
from stateward.etcd.api.settings import Settings, settings_of
from stateward.etcd.decide import chart, moves
from stateward.etcd.pems import flaw
from stateward.etcd.secrets import Certificates, Secrets
from stateward.kube.client import MergePatch
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SECRETS
from unit.etcd.moves.places import Place

NOW = moments.from_rfc3339("2026-06-01T00:00:00Z")


def pair(leaf: trustme.LeafCert) -> dict[str, bytes]:
    chain = b"".join(it.bytes() for it in leaf.cert_chain_pems)
    return {"tls.crt": chain, "tls.key": leaf.private_key_pem.bytes()}


def until(*moment: int, key: trustme.KeyType = trustme.KeyType.ECDSA) -> dict[str, bytes]:
    begin = datetime(1990, 1, 1, tzinfo=UTC)
    end = datetime(*moment, tzinfo=UTC)  # type: ignore[misc,arg-type]
    return pair(CA.issue_cert("shop.test", not_before=begin, not_after=end, key_type=key))


CA = trustme.CA()
AUTHORITY = CA.cert_pem.bytes()
GOOD, OTHER = until(2027, 1, 1), until(2027, 1, 1)
MARK = b"\xef\xbb\xbf"
BROKEN = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

FILES: dict[str, tuple[dict[str, bytes], str]] = {
    "a pair": (GOOD, ""),
    "of the old kind": (until(2027, 1, 1, key=trustme.KeyType.RSA), ""),
    "for very long": (until(2077, 1, 1), ""),
    "an authority": ({"ca.crt": AUTHORITY}, ""),
    "two of them, and words between": ({"ca.crt": AUTHORITY + "# née\n".encode() + AUTHORITY}, ""),
    "an old authority beside": ({"ca.crt": until(2020, 1, 1)["tls.crt"] + AUTHORITY}, ""),
    "no authority": ({"ca.crt": b"garbage"}, "ca.crt must be PEM certificates"),
    "blanks": ({"ca.crt": b" \n"}, "ca.crt must be PEM certificates"),
    "a key as authority": ({"ca.crt": GOOD["tls.key"]}, "ca.crt must be PEM certificates"),
    "a key beside an authority": ({"ca.crt": AUTHORITY + GOOD["tls.key"]}, "ca.crt must hold certificates only"),
    "and before it": ({"ca.crt": GOOD["tls.key"] + AUTHORITY}, "ca.crt must hold certificates only"),
    "a key in a comment": ({"ca.crt": AUTHORITY + b"# -----BEGIN X-----\n"}, ""),
    "an authority after a mark": ({"ca.crt": MARK + AUTHORITY}, "ca.crt must begin without a byte order mark"),
    "a certificate after a mark": (GOOD | {"tls.crt": MARK + GOOD["tls.crt"]}, "tls.crt must begin without a byte order mark"),
    "a comment after a mark": ({"ca.crt": MARK + b"# ours\n" + AUTHORITY}, ""),
    "no certificate": (GOOD | {"tls.crt": b"garbage"}, "tls.crt must be a PEM certificate"),
    "a broken one": (GOOD | {"tls.crt": BROKEN}, "tls.crt must be a PEM certificate"),
    "bytes": (GOOD | {"tls.crt": bytes(range(256))}, "tls.crt must be a PEM certificate"),
    "no key": (GOOD | {"tls.key": b"garbage"}, "tls.key must be a PEM key"),
    "another's key": (GOOD | {"tls.key": OTHER["tls.key"]}, "tls.key must be the key of tls.crt"),
    "a moment too old": (until(2026, 5, 31, 23, 59, 59), "has expired at 2026-05-31T23:59:59"),
    "very old": (until(1999, 12, 31), "has expired at 1999-12-31"),
    "good to the last moment": (until(2026, 6, 1), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_what_must_be_true_of_files(case: str) -> None:
    files, expected = FILES[case]
    found = flaw(files, NOW)
    assert expected in found
    assert bool(found) == bool(expected)


def settings() -> Settings:
    spec = {"security": {"tls": TLS}}
    return settings_of(msgspec.convert({"metadata": {"name": "shop"}, "spec": spec}, EtcdCluster))


def data(files: dict[str, bytes]) -> dict[str, Any]:
    return {"data": {name: base64.b64encode(it).decode() for name, it in files.items()}}


async def written(place: Place, **instead: dict[str, bytes]) -> None:
    """Make all six secrets, some of them with something else in them."""
    for name in TLS.values():
        usual = {"ca.crt": AUTHORITY} if name.endswith("-ca") else GOOD
        files = usual | instead.get(name.replace("-", "_"), {})
        metadata = {"namespace": "default", "name": name}
        await place.user.create(SECRETS, {"metadata": metadata} | data(files))


async def read(place: Place, secrets: Secrets | None = None) -> Certificates:
    found = secrets or Secrets(place.user, place.clock)
    return await found.certificates("default", settings())


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("name", "file", "can_ask"),
    [
        ("peer", "tls.crt", True),
        ("peer", "tls.key", True),
        ("peer-ca", "ca.crt", True),
        ("server", "tls.key", True),
        ("client-ca", "ca.crt", True),
        ("server-ca", "ca.crt", False),
        ("root", "tls.crt", False),
        ("root", "tls.key", False),
    ],
)
async def test_a_flaw_names_the_secret_and_the_key(name: str, file: str, can_ask: bool) -> None:
    """And nobody is ever asked in plain text because of it."""
    place = Place()
    await written(place, **{name.replace("-", "_"): {file: b"garbage"}})
    secrets = Secrets(place.user, place.clock)
    found = await read(place, secrets)
    assert found.flaw.startswith(f"secret default/{name}: {file} must be")
    assert found.can_ask == can_ask
    assert (found.trust is not None) == can_ask
    mended = {file: AUTHORITY if name.endswith("-ca") else GOOD[file]}
    await place.user.patch(SECRETS, ObjectKey("default", name), MergePatch(data(mended)))
    again = await read(place, secrets)
    assert (again.flaw, again.can_ask) == ("", True)


@pytest.mark.parametrize(
    "text", ["3:", "3: L f f", "3: L' f' f'", "3: L f d!", "5: L f f", "3: n d d", "3: d d d"]
)
def test_1a_nothing_at_all_is_done_with_a_flawed_secret(text: str) -> None:
    view = replace(picture(text, away={2: 600}), secret_flaw="secret story/peer: tls.crt must be")
    move = chart.next_move(view)
    assert isinstance(move, moves.Refuse)
    assert move.reason == "SecretInvalid"
    assert "story/peer" in move.message
