"""Asks the API server, from within the cluster's network."""

from __future__ import annotations

import json
import ssl
import urllib.request
from http.client import HTTPException
from typing import Any

from tools.cluster.plan import Plan


class Api:
    """Asks the API server."""

    def __init__(self, plan: Plan) -> None:
        about = json.loads(plan.kubeconfig.read_text())
        self._server = about["clusters"][0]["cluster"]["server"]
        self._token = about["users"][0]["user"]["token"]
        self._tls = ssl.create_default_context(cafile=str(plan.papers / "ca.crt"))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer; raise OSError when there is none, or it is a refusal."""
        request = urllib.request.Request(  # noqa: S310 - of our own server
            f"{self._server}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10, context=self._tls) as answer:  # noqa: S310
                return json.load(answer)
        except (HTTPException, ValueError) as error:  # it ended in the middle of its answer
            raise OSError(f"{method} {path}: {error!r}") from error
