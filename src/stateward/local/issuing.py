"""An authority of our own, and certificates by it: for a server on loopback, for a quick start."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

#: Clocks of two programs on one machine agree, but for a restored snapshot of it.
_BEFORE: Final = timedelta(hours=1)
#: A member of etcd shows the same certificate to clients, to others and to itself.
_USES: Final = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
_PEM: Final = serialization.Encoding.PEM


@dataclass(frozen=True, slots=True)
class Papers:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Term:
    """From when on a certificate is good, and for how long."""

    since: datetime
    life: timedelta


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs, and whom others believe."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @property
    def papers(self) -> Papers:
        """Its own certificate and key."""
        return Papers(self.certificate.public_bytes(_PEM), _secret(self.key))

    def issue(self, subject: str, names: Iterable[str], term: Term) -> Papers:
        """Sign a certificate for a subject that has some names, of hosts or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        above = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        begun = _begun(_named(subject), self.certificate.subject, term)
        if listed := [_general(it) for it in names]:
            begun = begun.add_extension(x509.SubjectAlternativeName(listed), critical=False)
        signed = (
            begun.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(_USES), critical=False)
            .add_extension(above, critical=False)
            .public_key(key.public_key())
            .sign(self.key, hashes.SHA256())
        )
        return Papers(signed.public_bytes(_PEM), _secret(key))


def new_authority(name: str, term: Term) -> Authority:
    """Make somebody whom nobody believes yet."""
    key = ec.generate_private_key(ec.SECP256R1())
    itself = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    signed = (
        _begun(_named(name), _named(name), term)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(itself, critical=False)
        .public_key(key.public_key())
        .sign(key, hashes.SHA256())
    )
    return Authority(signed, key)


def kept_authority(papers: Papers) -> Authority:
    """Return one that was made before; raise ValueError when it is none of ours."""
    certificate = x509.load_pem_x509_certificate(papers.certificate)
    key = serialization.load_pem_private_key(papers.key, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("the key must be of an elliptic curve")  # noqa: TRY004 - as others are
    if key.public_key() != certificate.public_key():
        raise ValueError("the key must be that of the certificate")
    return Authority(certificate, key)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _begun(subject: x509.Name, issuer: x509.Name, term: Term) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(term.since - _BEFORE)
        .not_valid_after(term.since + term.life)
    )


def _secret(key: ec.EllipticCurvePrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, plain)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
