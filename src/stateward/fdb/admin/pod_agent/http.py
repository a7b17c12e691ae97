"""Sidecars over HTTP. Nothing is repeated here, and no redirect or proxy is followed.

nothing was sent                  PeerUnreachable
sent, and no whole answer came    read: PeerUnreachable    order: OutcomeUnknown
the answer is nonsense            read: PeerConfused       order: OutcomeUnknown
it says "no"                      AgentRefused
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
from typing import Final

import aiohttp
import msgspec
from yarl import URL

from stateward import __version__
from stateward.core.errors import OutcomeUnknown, PeerConfused, PeerError, PeerUnreachable
from stateward.fdb.admin.errors import ProgramUnusable
from stateward.fdb.admin.pod_agent.port import AgentRefused
from stateward.fdb.admin.session import Tls
from stateward.kube.http.failures import LOST, Progress, tracing

PORT: Final = 8080
#: Seconds that a question and an order may take.
ASKING, ORDERING = 5.0, 10.0
#: Bytes that an answer may have.
_LARGEST: Final = 256 * 1024
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_FILE: Final = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")


class HttpAgents:
    """Reaches sidecars; files of TLS are read anew for every connection, as they may be renewed.

    Without ``checks_hosts`` a certificate need not name the address of its pod; whoever issued it
    is asked for all the same.
    """

    def __init__(
        self, tls: Tls | None = None, port: int = PORT, *, checks_hosts: bool = True
    ) -> None:
        self._tls = tls
        self._port = port
        self._checks_hosts = checks_hosts
        self._session: aiohttp.ClientSession | None = None

    def reach(self, host: str, *, tls: bool = False) -> HttpAgent:
        """Return the sidecar of the pod at an address; nobody is asked yet."""
        url = URL.build(scheme="https" if tls else "http", host=host, port=self._port)
        return HttpAgent(self, url)

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    def session(self) -> aiohttp.ClientSession:
        """Return what all sidecars share; it is made where there is a loop."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[tracing()],
                trust_env=False,
                auto_decompress=False,
                headers={"User-Agent": f"stateward/{__version__}", "Accept-Encoding": "identity"},
            )
        return self._session

    async def context(self) -> ssl.SSLContext:
        """Return who we are and whom we believe, by the files as they are now."""
        if self._tls is None:
            raise ProgramUnusable("a sidecar with TLS must be shown a certificate, and none is set")
        return await asyncio.to_thread(_context, self._tls, checks_hosts=self._checks_hosts)


class HttpAgent:
    """One sidecar."""

    def __init__(self, agents: HttpAgents, url: URL) -> None:
        self._agents = agents
        self._url = url

    async def check_hash(self, file: str) -> str:
        """Return the SHA-256 of a file that fdbmonitor finds."""
        text = (await self._call("GET", f"/check_hash/{_below(file)}")).strip()
        if not _HASH.fullmatch(text):
            raise PeerConfused(f"{self._url}: a hash must be 64 digits, got {text[:80]!r}")
        return text

    async def is_present(self, file: str) -> bool:
        """Tell whether fdbmonitor finds a file."""
        try:
            await self._call("GET", f"/is_present/{_below(file)}")
        except AgentRefused as error:
            if not error.is_missing:
                raise
            return False
        return True

    async def copy(self) -> None:
        """Have fdbmonitor find the files as the sidecar sees them now."""
        await self._call("POST", "/copy_files")
        await self._call("POST", "/copy_monitor_conf")

    async def substitutions(self) -> dict[str, str]:
        """Return the variables that it writes into files, with their values."""
        text = await self._call("GET", "/substitutions")
        try:
            return msgspec.json.decode(text, type=dict[str, str])
        except msgspec.MsgspecError as error:
            raise PeerConfused(f"{self._url}: variables must be texts: {error}") from None

    async def certificate(self) -> str:
        """Return the SHA-256 of the certificate that it shows; nothing is asked of it."""
        host, port = self._url.host, self._url.port
        if self._url.scheme != "https" or not host:
            return ""
        context = await self._agents.context()
        try:
            async with asyncio.timeout(ASKING):
                _, writer = await asyncio.open_connection(host, port, ssl=context)
        except (OSError, ssl.SSLError, TimeoutError) as error:
            raise self._lost(error, "", orders=False, sent=False) from None
        try:
            shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            return hashlib.sha256(shown).hexdigest()
        finally:
            writer.close()

    async def refresh(self) -> None:
        """Have it read its certificates anew."""
        await self._call("POST", "/refresh_certs")

    async def _call(self, method: str, path: str) -> str:
        progress, orders = Progress(), method == "POST"
        context = await self._agents.context() if self._url.scheme == "https" else None
        timeout = aiohttp.ClientTimeout(total=ORDERING if orders else ASKING)
        try:
            async with self._agents.session().request(
                method,
                self._url.with_path(path),
                ssl=True if context is None else context,
                allow_redirects=False,
                timeout=timeout,
                trace_request_ctx=progress,
            ) as response:
                text = await _text(response)
        except LOST as error:
            raise self._lost(error, path, orders=orders, sent=progress.connected) from None
        if response.status == 200:
            return text
        said = text.strip()[:200]
        raise AgentRefused(response.status, f"{self._url} answers {response.status}: {said}")

    def _lost(self, error: BaseException, path: str, *, orders: bool, sent: bool) -> PeerError:
        why = str(error) or type(error).__name__
        if not sent:
            return PeerUnreachable(f"the sidecar at {self._url} must be reachable: {why}")
        text = f"{path} was sent to {self._url}, and no whole answer came: {why}"
        if orders:
            return OutcomeUnknown(text)
        if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
            return PeerConfused(text)
        return PeerUnreachable(text)


def _below(file: str) -> str:
    if not _FILE.fullmatch(file) or ".." in file.split("/"):
        raise ValueError(f"a file must be named below its folder, got {file!r}")
    return file


async def _text(response: aiohttp.ClientResponse) -> str:
    data = await response.content.read(_LARGEST + 1)
    while data and len(data) <= _LARGEST:
        more = await response.content.read(_LARGEST + 1 - len(data))
        if not more:
            break
        data += more
    if len(data) > _LARGEST:
        raise aiohttp.ClientPayloadError(f"more than {_LARGEST} bytes came")
    return data.decode(errors="replace")


def _context(tls: Tls, *, checks_hosts: bool) -> ssl.SSLContext:
    """Return a context of the files as they are now; raise ProgramUnusable."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = checks_hosts
    made.verify_mode = ssl.CERT_REQUIRED
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    # Private authorities often lack an extension that the strict check of newer Pythons asks for.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    try:
        made.load_verify_locations(tls.authority)
        made.load_cert_chain(tls.certificate, tls.key, password=_no_password)
    except (OSError, ssl.SSLError, ValueError) as error:
        named = ", ".join(map(str, (tls.certificate, tls.key, tls.authority)))
        raise ProgramUnusable(f"{named} must be usable for TLS: {error}") from None
    return made


def _no_password() -> str:
    # Without this, OpenSSL would ask on the terminal and wait.
    return ""
