"""Where backups lie: URLs as FoundationDB's programs take them, and without their secrets.

``file:///folder`` is a folder beneath which each start makes one of its own, ``backup-<time>``;
everything else is the container itself, for backups as for restores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FILE: Final = "file://"
_BLOB: Final = "blobstore://"
#: Where programs look that are told of no bucket.
OLD_BUCKET: Final = "bucket=FDB_BACKUP_V2"
_MADE: Final = "/backup-"
#: By these words an account is reached without TLS.
_PLAIN: Final = ("sc=0", "secure_connection=0")
#: All before the first @ is the account, whatever it has in it.
_URL: Final = re.compile(r"(?P<scheme>blobstore://)(?:(?P<secret>[^@]*)@)?(?P<rest>.*)", re.DOTALL)


def blob_url(account: str, name: str, bucket: str, parameters: Sequence[str] = ()) -> str:
    """Return where a backup lies in a blob store, with the port that its account leaves out.

    >>> blob_url("me@host", "nightly", "fdb-backups")
    'blobstore://me@host:443/nightly?bucket=fdb-backups'
    >>> blob_url("me@host:9000", "nightly", "b", ["sc=0", "region=eu"])
    'blobstore://me@host:9000/nightly?bucket=b&sc=0&region=eu'
    """
    host = account.rpartition("@")[2]
    port = "" if _has_port(host) else f":{_port(parameters)}"
    query = "&".join([f"bucket={bucket}", *parameters])
    return f"{_BLOB}{account}{port}/{name}?{query}"


def blob_parts(url: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Return the account, the name and the parameters of a URL of a blob store; None: it is none.

    >>> blob_parts("blobstore://me@host:443/a/b?bucket=b&sc=0")
    ('me@host:443', 'a/b', ('bucket=b', 'sc=0'))
    """
    if not url.startswith(_BLOB):
        return None
    place, _, query = url.removeprefix(_BLOB).partition("?")
    account, _, name = place.partition("/")
    return account, name, tuple(filter(None, query.split("&")))


def is_file(url: str) -> bool:
    """Tell whether it is a folder of whoever does the work."""
    return url.startswith(FILE)


def is_at(live: str, wanted: str) -> bool:
    """Tell whether a backup lies where it shall, and is reached as it shall be.

    What a secret is does not count, which nobody shows; whose it is does, where both say it.

    >>> is_at("file:///b/backup-2026-11-15-02-06-50.29", "file:///b")
    True
    >>> is_at("blobstore://k:s@host:443/n?region=eu&bucket=b", "blobstore://k@host:443/n?bucket=b&region=eu")
    True
    >>> is_at("blobstore://old:s@host:443/n?bucket=b", "blobstore://k@host:443/n?bucket=b")
    False
    >>> is_at("file:///b2", "file:///b")
    False
    """
    if not _is_by_same(live, wanted):
        return False
    one, other = _essence(live), _essence(wanted)
    return one == other or (is_file(wanted) and one.startswith(other + _MADE))


def is_as_asked(one: str, other: str) -> bool:
    """Tell whether two places are asked for in the same words, but for a secret.

    >>> is_as_asked("blobstore://k@host:443/n?bucket=b", "blobstore://k@host:443/n?bucket=b&region=eu")
    False
    >>> is_as_asked("blobstore://old@host:443/n?bucket=b", "blobstore://k@host:443/n?bucket=b")
    False
    """
    return _is_by_same(one, other) and _essence(one) == _essence(other)


def is_same(one: str, other: str) -> bool:
    """Tell whether two containers are one; by whom, and how, it is reached does not count.

    >>> is_same("blobstore://k@host/n?bucket=b&sc=1", "blobstore://HOST:443//n/?region=eu&bucket=b")
    True
    """
    return _place(one) == _place(other)


def is_within(inner: str, outer: str) -> bool:
    """Tell whether what lies at one place goes when all does that is at the other.

    >>> is_within("file:///b/nightly/old", "file:///b/nightly")
    True
    >>> is_within("file:///b/nightly-2", "file:///b/nightly")
    False
    """
    one, other = _place(inner), _place(outer)
    return one == other or (one[0] == other[0] and one[1].startswith(f"{other[1]}/"))


def touch(one: str, other: str) -> bool:
    """Tell whether two places have files in common."""
    return is_within(one, other) or is_within(other, one)


def below(folder: str, name: str) -> str:
    """Return a container of its own beneath a folder, as starting makes one by itself.

    Programs that change where a running backup lies make none: two would write over each other.

    >>> below("file:///b/", "nightly-3")
    'file:///b/backup-nightly-3'
    """
    return f"{folder.rstrip('/')}{_MADE}{name}"


def shown(url: str) -> str:
    """Return a URL as anybody may read it: with no more of an account than its first word.

    >>> shown("blobstore://key:secret:token@host/n?bucket=b")
    'blobstore://key:***@host/n?bucket=b'
    >>> shown("blobstore://key:sec/ret@host/n?bucket=b")
    'blobstore://key:***@host/n?bucket=b'
    """
    found = _URL.fullmatch(url)
    if found is None or not found["secret"] or ":" not in found["secret"]:
        return url
    return f"{found['scheme']}{found['secret'].partition(':')[0]}:***@{found['rest']}"


def bare(url: str) -> str:
    """Return a URL with nothing of an account but its first word: programs read secrets from files.

    >>> bare("blobstore://key:***@host/n?bucket=b")
    'blobstore://key@host/n?bucket=b'
    """
    found = _URL.fullmatch(url)
    if found is None or not found["secret"]:
        return url
    return f"{found['scheme']}{found['secret'].partition(':')[0]}@{found['rest']}"


def _key(url: str) -> str:
    """Return the first word of an account; empty: none is named."""
    found = _URL.fullmatch(url)
    return (found["secret"] or "").partition(":")[0] if found is not None else ""


def _is_by_same(one: str, other: str) -> bool:
    """Tell whether two places are reached by one account, as far as both say."""
    mine, asked = _key(one), _key(other)
    return not (mine and asked) or mine == asked


def _essence(url: str) -> str:
    """Return what tells one place from another."""
    found = _URL.fullmatch(url)
    rest = found["rest"] if found is not None else url
    scheme = found["scheme"] if found is not None else ""
    path, _, query = rest.partition("?")
    said = "&".join(sorted(filter(None, query.split("&"))))
    return f"{scheme}{path.rstrip('/')}" + (f"?{said}" if said else "")


def _place(url: str) -> tuple[str, str]:
    """Return whose files they are, as a host and a bucket; and which of them."""
    found = _URL.fullmatch(url)
    path, _, query = (found["rest"] if found is not None else url).partition("?")
    if found is None:
        return FILE, _simple(path.removeprefix(FILE))
    host, _, name = path.partition("/")
    said = query.split("&")
    port = "" if _has_port(host) else f":{_port(said)}"
    bucket = next((it for it in said if it.startswith("bucket=")), OLD_BUCKET)
    return f"{host.lower()}{port}?{bucket}", _simple(name)


def _simple(path: str) -> str:
    return "".join(f"/{it}" for it in path.split("/") if it not in ("", "."))


def _port(parameters: Sequence[str]) -> int:
    return 80 if set(parameters) & set(_PLAIN) else 443


def _has_port(host: str) -> bool:
    after = host.rpartition("]")[2]
    return after.rpartition(":")[2].isdigit() and ":" in after
