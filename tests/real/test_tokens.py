"""A token that is renewed in its file, and whose predecessor the server no longer takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contract.kubernetes.wire import Wire, wire_to
from stateward.core.errors import PeerError
from stateward.core.ports import Ports
from stateward.kube.http.access import ClusterAccess, TokenFile
from stateward.kube.http.client import HttpClient
from stateward.kube.meta import ObjectKey
from stateward.kube.resources import CONFIG_MAPS


async def _token_bound_to(wire: Wire, secret: str) -> str:
    """Return a token of the account ``robot`` that is good while a secret is there."""
    made = (await wire.post("secrets", {"metadata": {"name": secret}})).made()
    bound = {"apiVersion": "v1", "kind": "Secret", "name": secret, "uid": made["metadata.uid"]}
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"boundObjectRef": bound, "expirationSeconds": 600},
    }
    return str((await wire.post("serviceaccounts/robot/token", request)).made()["status.token"])


async def _let_robot_in(wire: Wire) -> None:
    (await wire.post("serviceaccounts", {"metadata": {"name": "robot"}})).made()
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    (await wire.post("roles", {"metadata": {"name": "reader"}, "rules": [rule]})).made()
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": wire.namespace}],
    }
    (await wire.post("rolebindings", binding)).made()


async def test_a_rotated_token_is_noticed(release: ClusterAccess, tmp_path: Path) -> None:
    """A token with rights of its own is read again from its file when the server refuses the old one."""
    ports = Ports.of_this_machine()
    file = tmp_path / "token"
    async with wire_to(release) as wire:
        await _let_robot_in(wire)
        (await wire.post("configmaps", {"metadata": {"name": "a"}, "data": {"n": "1"}})).made()
        first = await _token_bound_to(wire, "first")
        file.write_text(first)
        robot = replace(release, credentials=TokenFile(file))
        stubborn = {"Authorization": f"Bearer {first}"}
        where = ObjectKey(wire.namespace, "a")

        async with HttpClient(robot, ports.clock, ports.chance) as client:
            await wire.until(lambda: _works(client, where))
            file.write_text(await _token_bound_to(wire, "second"))
            (await wire.delete("secrets/first")).ok()

            async def the_old_one_is_refused() -> bool:
                assert (await client.get(CONFIG_MAPS, where)).data == {"n": "1"}
                return (await wire.ask("GET", "configmaps/a", headers=stubborn)).code == 401

            await wire.until(the_old_one_is_refused)
            assert (await client.get(CONFIG_MAPS, where)).data == {"n": "1"}


async def _works(client: HttpClient, where: ObjectKey) -> bool:
    """Tell whether a new account is let in: a role counts once it was heard of."""
    try:
        await client.get(CONFIG_MAPS, where)
    except PeerError:
        return False
    return True
