"""Clusters with TLS, without it, and on the way from one to the other."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from stateward.kube.codec import Json
from stateward.kube.errors import AlreadyExists
from stateward.kube.resources import SECRETS
from stateward.sim.fdb.oracles.costs import Cost
from stateward.sim.fdb.scripts.kit import (
    KEY,
    Script,
    Step,
    cluster,
    create,
    edit,
    is_settled,
    volume,
)
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.kube.papers import CERTIFICATE, encoded
from stateward.sim.kube.papers import KEY as PRIVATE

_NAME: Final = "certificates"
_FOLDER: Final = "/var/certificates"
ON: Final = {"enableTls": True}
OFF: Final = {"enableTls": False}


def _certified() -> Json:
    """Return processes whose pods have certificates."""
    files = {"CERTIFICATE": "tls.crt", "KEY": "tls.key", "CA": "ca.crt"}
    container: Json = {
        "name": "foundationdb",
        "env": [
            {"name": f"FDB_TLS_{name}_FILE", "value": f"{_FOLDER}/{file}"}
            for name, file in files.items()
        ],
        "volumeMounts": [{"name": _NAME, "mountPath": _FOLDER}],
    }
    volumes = [{"name": _NAME, "secret": {"secretName": _NAME}}]
    template = {"podTemplate": {"spec": {"containers": [container], "volumes": volumes}}}
    return {"general": {**volume("16G")["general"], **template}}


def secret() -> Step:
    """Have somebody make the secret that certificates are in."""
    files = {"tls.crt": CERTIFICATE, "tls.key": PRIVATE, "ca.crt": CERTIFICATE}
    body: Json = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": KEY.namespace, "name": _NAME},
        "data": {name: encoded(text) for name, text in files.items()},
    }

    async def do(it: FdbWorld) -> None:
        with suppress(AlreadyExists):
            await it.world.client.create(SECRETS, body)

    return Step("a secret with certificates", do, lambda _it: True)


def _waits(it: FdbWorld) -> bool:
    """Tell whether a cluster says that a certificate is missing."""
    found = cluster(it)
    said = found.status.conditions if found is not None else ()
    return any(one.type == "Ready" and one.reason == "CertificateUnusable" for one in said)


def _is_between(it: FdbWorld) -> bool:
    """Tell whether processes listen in both kinds."""
    found = cluster(it)
    told = found.status.required_addresses if found is not None else None
    return told is not None and told.tls and told.non_tls


def _found_by(*, tls: bool) -> Step:
    """Turn TLS on or off, and wait until coordinators are found in the new way."""

    def moved(it: FdbWorld) -> bool:
        found = cluster(it)
        text = found.status.connection_string if found is not None else ""
        return text.endswith(":tls") is tls

    return edit(mainContainer=ON if tls else OFF, until=moved)


#: There are two restarts on the way: neither waits for longer than it must.
_SOON: Final[dict[str, Any]] = {"minimumUptimeSecondsForBounce": 60}


def _created(words: str, **spec: Any) -> Step:
    """Have somebody create a cluster whose pods have certificates, said in few words."""
    return replace(create(processes=_certified(), **_SOON, **spec), text=f"create shop {words}")


_PLAIN: Final = (secret(), _created("with certificates"))
_SECURE: Final = (secret(), _created("with TLS", mainContainer=ON))
_TURNED_ON: Final = edit(mainContainer=ON)
_TURNED_OFF: Final = edit(mainContainer=OFF)
#: All are restarted to listen in both ways, coordinators get other addresses, all are restarted.
_CONVERTED: Final = Cost(restarts=2, recoveries=3)

SCENARIOS: Final[dict[str, Script]] = {
    "fdb-tls": _SECURE,
    "fdb-tls-late": (
        replace(_created("with TLS", mainContainer=ON), until=_waits),
        replace(secret(), until=is_settled),
    ),
    "fdb-tls-on": (*_PLAIN, replace(_TURNED_ON, costs=_CONVERTED)),
    "fdb-tls-off": (*_SECURE, replace(_TURNED_OFF, costs=_CONVERTED)),
    "fdb-tls-pods": (
        secret(),
        create(**_SOON),
        replace(
            edit(processes=_certified(), mainContainer=ON),
            text="edit shop: certificates and TLS at once",
            quick=3600.0,
        ),
    ),
    "fdb-tls-rollback": (*_PLAIN, edit(mainContainer=ON, until=_is_between), _TURNED_OFF),
    "fdb-tls-rollback-late": (*_PLAIN, _found_by(tls=True), _TURNED_OFF),
    "fdb-tls-rollback-off": (*_SECURE, edit(mainContainer=OFF, until=_is_between), _TURNED_ON),
    "fdb-tls-rollback-off-late": (*_SECURE, _found_by(tls=False), _TURNED_ON),
    "fdb-tls-split": (
        secret(),
        _created("with certificates, in split images", imageType="split"),
        replace(_TURNED_ON, costs=_CONVERTED),
        replace(_TURNED_OFF, costs=_CONVERTED),
    ),
}
