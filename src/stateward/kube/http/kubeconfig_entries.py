"""What the entries of a kubeconfig mean: an address, TLS material, a source of credentials.

Inline data wins over a file of the same purpose, and a token over every other way to log in, as in
kubectl.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from stateward.core.errors import UsageError
from stateward.kube.http import proxies
from stateward.kube.http.access import (
    Anonymous,
    BearerToken,
    CredentialSource,
    ExecPlugin,
    Impersonation,
    Pem,
    PemFile,
    PemText,
    TlsMaterial,
    TokenFile,
    UserPassword,
)
from stateward.kube.http.kubeconfig_files import Cluster, Exec, Found, User

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
#: A path may follow, but neither a user with a password nor a query: those would be lost or shown.
_ADDRESS = re.compile(
    r"(?P<scheme>(?i:https?))://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>\d{1,5}))?(/[^\s?#@]*)?",
    re.ASCII,
)
#: The extension of a cluster entry that is meant for credential plugins.
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


def server_of(cluster: Found[Cluster]) -> str:
    """Return the address of the API server."""
    server = cluster.entry.server.rstrip("/")
    place = f"clusters[{cluster.name}].cluster.server in {cluster.file}"
    if not server:
        raise UsageError(f"{place} must be set", hint="write it as https://HOST:PORT")
    found = _ADDRESS.fullmatch(server)
    if found is None or int(found["port"] or 0) > 65535:
        raise UsageError(
            f"{place} must be a plain http or https address", hint="write it as https://HOST:PORT"
        )
    return found["scheme"].lower() + server.removeprefix(found["scheme"])


def proxy_of(cluster: Found[Cluster]) -> str:
    """Return the proxy that the entry asks for, or an empty string."""
    url = cluster.entry.proxy_url
    place = f"clusters[{cluster.name}].cluster.proxy-url in {cluster.file}"
    return proxies.explicit(url, place) if url else ""


def tls_of(cluster: Found[Cluster], user: Found[User] | None) -> TlsMaterial:
    """Return whom to trust and which certificate to show."""
    entry = cluster.entry
    authority = _pem(
        cluster,
        "certificate-authority",
        entry.certificate_authority_data,
        entry.certificate_authority,
    )
    if authority is not None and entry.insecure_skip_tls_verify:
        raise UsageError(
            f"clusters[{cluster.name}] in {cluster.file} must either trust a certificate-authority "
            "or set insecure-skip-tls-verify, and it does both",
            hint="remove insecure-skip-tls-verify",
        )
    certificate, key = _client_certificate(user) if user is not None else (None, None)
    return TlsMaterial(
        authority=authority,
        certificate=certificate,
        key=key,
        server_name=entry.tls_server_name,
        verify=not entry.insecure_skip_tls_verify,
    )


def credentials_of(
    user: Found[User], cluster: Found[Cluster], environment: Mapping[str, str]
) -> CredentialSource:
    """Return how this user logs in."""
    entry = user.entry
    if entry.auth_provider is not None:
        raise UsageError(
            f"users[{user.name}].user in {user.file} must log in by token, certificate or exec, "
            "but it uses auth-provider, which Kubernetes removed",
            hint="create the entry again with an exec credential plugin",
        )
    if entry.token_file:
        return TokenFile(user.path(entry.token_file))
    if entry.token:
        return BearerToken(_one_line(user, "token", entry.token))
    if entry.username or entry.password:
        return UserPassword(entry.username, entry.password)
    if entry.exec is not None:
        return _plugin(user, entry.exec, cluster, environment)
    return Anonymous()


def impersonation_of(user: Found[User]) -> Impersonation | None:
    """Return whom this user acts as, or None."""
    entry = user.entry
    if entry.as_user:
        return Impersonation(
            user=_one_line(user, "as", entry.as_user),
            uid=_one_line(user, "as-uid", entry.as_uid),
            groups=tuple(_one_line(user, "as-groups", group) for group in entry.as_groups),
            extra=tuple(
                (name, _one_line(user, "as-user-extra", value))
                for name, values in entry.as_user_extra.items()
                for value in values
            ),
        )
    if entry.as_uid or entry.as_groups or entry.as_user_extra:
        raise UsageError(
            f"users[{user.name}].user.as in {user.file} must be set when as-uid, as-groups or "
            "as-user-extra is",
            hint="add the user to act as",
        )
    return None


def _client_certificate(user: Found[User]) -> tuple[Pem | None, Pem | None]:
    entry = user.entry
    certificate = _pem(
        user, "client-certificate", entry.client_certificate_data, entry.client_certificate
    )
    key = _pem(user, "client-key", entry.client_key_data, entry.client_key)
    if (certificate is None) != (key is None):
        missing = "client-key" if key is None else "client-certificate"
        raise UsageError(
            f"users[{user.name}].user.{missing} in {user.file} must be set, because a certificate "
            "and its key belong together",
            hint=f"add {missing} or {missing}-data",
        )
    return certificate, key


def _pem(found: Found[Cluster] | Found[User], field: str, data: str, file: str) -> Pem | None:
    if data:
        return PemText(_decoded(found, f"{field}-data", data))
    return PemFile(found.path(file)) if file else None


def _decoded(found: Found[Cluster] | Found[User], field: str, data: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(
            f"{field} of {found.name!r} in {found.file} must be base64",
            hint=f"encode the PEM file again, or name it with {field.removesuffix('-data')}",
        ) from None


def _one_line(user: Found[User], field: str, text: str) -> str:
    if text.isprintable():
        return text
    raise UsageError(
        f"users[{user.name}].user.{field} in {user.file} must be one line of printable characters",
        hint="remove line breaks and control characters",
    )


def _plugin(
    user: Found[User], asked: Exec, cluster: Found[Cluster], environment: Mapping[str, str]
) -> ExecPlugin:
    place = f"users[{user.name}].user.exec"
    if asked.api_version not in EXEC_VERSIONS:
        raise UsageError(
            f"{place}.apiVersion in {user.file} must be {' or '.join(EXEC_VERSIONS)}, "
            f"got {asked.api_version!r}",
            hint="upgrade the credential plugin and create the entry again",
        )
    if not asked.command:
        raise UsageError(f"{place}.command in {user.file} must be set", hint="name the plugin")
    if asked.interactive_mode == "Always":
        raise UsageError(
            f"{place}.interactiveMode in {user.file} must be Never or IfAvailable, because nobody "
            "can answer the plugin's questions here",
            hint="log in by another way, such as a token",
        )
    question = _question(asked, cluster)
    added = {variable.name: variable.value for variable in asked.env}
    added["KUBERNETES_EXEC_INFO"] = question.decode()
    return ExecPlugin(
        api_version=asked.api_version,
        command=_command(user, asked.command),
        arguments=asked.args,
        environment=tuple({**environment, **added}.items()),
        install_hint=asked.install_hint,
    )


def _command(user: Found[User], command: str) -> str:
    # A bare name is looked up in PATH; one with a slash is a path, relative to the kubeconfig like
    # any other.
    return str(user.path(command)) if "/" in command else command


def _question(asked: Exec, cluster: Found[Cluster]) -> bytes:
    spec: dict[str, object] = {"interactive": False}
    if asked.provide_cluster_info:
        spec["cluster"] = _cluster_info(cluster)
    return msgspec.json.encode(
        {"apiVersion": asked.api_version, "kind": "ExecCredential", "spec": spec}
    )


def _cluster_info(cluster: Found[Cluster]) -> dict[str, object]:
    entry = cluster.entry
    info: dict[str, object] = {
        "server": entry.server,
        "tls-server-name": entry.tls_server_name,
        "insecure-skip-tls-verify": entry.insecure_skip_tls_verify,
        "certificate-authority-data": _authority_data(cluster),
        "proxy-url": entry.proxy_url,
        "config": next((e.extension for e in entry.extensions if e.name == _EXEC_EXTENSION), None),
    }
    return {name: value for name, value in info.items() if value}


def _authority_data(cluster: Found[Cluster]) -> str:
    if cluster.entry.certificate_authority_data or not cluster.entry.certificate_authority:
        return cluster.entry.certificate_authority_data
    file = cluster.path(cluster.entry.certificate_authority)
    return base64.b64encode(_contents(file)).decode()


def _contents(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"certificate-authority {file} must be readable: {error.strerror}",
            hint="correct the path in the kubeconfig or the file's permissions",
        ) from None
