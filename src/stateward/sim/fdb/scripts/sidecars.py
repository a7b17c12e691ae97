"""Sidecars of split images get TLS and renewed certificates; somebody is away while TLS comes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from stateward.core import pems
from stateward.fdb.api.kind import CLUSTERS
from stateward.fdb.model.names import MAIN_CONTAINER, SIDECAR_CONTAINER
from stateward.kube.client import MergePatch
from stateward.kube.codec import Json
from stateward.kube.errors import NotFound
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import SECRETS
from stateward.sim.fdb.acts import happenings
from stateward.sim.fdb.keepers import Split
from stateward.sim.fdb.scripts.kit import (
    KEY,
    MORE,
    Script,
    Step,
    create,
    edit,
    first_of,
    groups,
    is_mended,
    is_settled,
    volume,
)
from stateward.sim.fdb.scripts.tls import OFF, ON, secret
from stateward.sim.fdb.world import FdbWorld
from stateward.sim.kube.papers import RENEWED, encoded

_NAME: Final = "certificates"
_FOLDER: Final = "/var/certificates"
_FILES: Final = {"CERTIFICATE": "tls.crt", "KEY": "tls.key", "CA": "ca.crt"}
#: Pods are made anew in place, so that what is told of them is told of the same groups.
_IN_PLACE: Final = {"podUpdateStrategy": "Delete"}
#: For so long a node is dark: from before TLS is asked for until it would be there without it.
_DARK: Final = 1200


def _certified() -> Json:
    """Return processes whose pods have certificates, for fdbserver and for sidecars."""
    env = [
        {"name": f"FDB_TLS_{name}_FILE", "value": f"{_FOLDER}/{file}"}
        for name, file in _FILES.items()
    ]
    mounts = [{"name": _NAME, "mountPath": _FOLDER}]
    containers = [
        {"name": it, "env": env, "volumeMounts": mounts}
        for it in (MAIN_CONTAINER, SIDECAR_CONTAINER)
    ]
    volumes = [{"name": _NAME, "secret": {"secretName": _NAME}}]
    template = {"podTemplate": {"spec": {"containers": containers, "volumes": volumes}}}
    return {"general": {**volume("16G")["general"], **template}}


def _created(words: str, **spec: Any) -> Step:
    made = create(processes=_certified(), minimumUptimeSecondsForBounce=60, **spec)
    return replace(made, text=f"create shop {words}")


def _sidecars(it: FdbWorld) -> list[Split]:
    found = (it.pods.program(one.metadata.key) for one in groups(it))
    return [one.keeper for one in found if one is not None and isinstance(one.keeper, Split)]


def _speak(*, tls: bool) -> Step:
    """Turn TLS of sidecars on or off; all of them speak so in the end."""

    def is_done(it: FdbWorld) -> bool:
        return is_settled(it) and all(one.errands.tls is tls for one in _sidecars(it))

    return replace(edit(sidecarContainer=ON if tls else OFF, until=is_done), quick=3600.0)


def _renewed() -> Step:
    """Have somebody renew the certificate; all sidecars show the new one in the end."""
    wanted = pems.fingerprint(RENEWED.encode())
    data = {"tls.crt": encoded(RENEWED), "ca.crt": encoded(RENEWED)}

    async def do(it: FdbWorld) -> None:
        with suppress(NotFound):
            key = ObjectKey(KEY.namespace, _NAME)
            await it.world.client.patch(SECRETS, key, MergePatch({"data": data}))

    def is_done(it: FdbWorld) -> bool:
        return is_settled(it) and {one.shown for one in _sidecars(it)} == {wanted}

    return Step("the certificate is renewed", do, is_done)


def _while_somebody_is_away() -> Step:
    """Have TLS be asked for while a storage server's node is dark, for longer than it takes."""

    async def do(it: FdbWorld) -> None:
        chosen = first_of(it, "storage")
        if chosen is not None:
            node = it.node_of(chosen.metadata.key).removeprefix("node-")
            happenings.happen(it, None, "power", node, str(_DARK))
        with suppress(NotFound):
            await it.world.client.patch(
                CLUSTERS, KEY, MergePatch({"spec": {"mainContainer": dict(ON)}})
            )

    text = f"a storage server's node is dark for {_DARK} s, and TLS is asked for"
    return Step(text, do, is_mended, quick=3600.0, befalls=True)


_SPLIT: Final = {"imageType": "split", "automationOptions": _IN_PLACE}

SCENARIOS: Final[dict[str, Script]] = {
    "fdb-tls-sidecar": (
        secret(),
        _created("with certificates, in split images", **_SPLIT),
        _speak(tls=True),
        _speak(tls=False),
    ),
    "fdb-tls-renewed": (
        secret(),
        _created("with TLS of sidecars", sidecarContainer=ON, **_SPLIT),
        _renewed(),
    ),
    "fdb-tls-away": (
        secret(),
        _created("with certificates", processCounts=MORE),
        _while_somebody_is_away(),
    ),
}
