"""Where a backup lies: a blob store, or a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, TypeAlias

from msgspec import Meta

from stateward.fdb.api.backups import urls
from stateward.kube.codec import Part
from stateward.kube.crd.fields import Field


class BlobStore(Part):
    """A place in a blob store; agents learn its secrets from files that pods mount."""

    account_name: Annotated[
        str,
        Meta(min_length=1, max_length=1000),
        Field(description="The account and its host, as in KEY@HOST:PORT."),
    ]
    backup_name: Annotated[
        str, Meta(max_length=1024), Field(description="What it is called there; the object's name.")
    ] = ""
    bucket: Annotated[
        str,
        Meta(max_length=63),
        Field(description="Of 3 to 63 characters; not said: fdb-backups."),
    ] = ""
    url_parameters: Annotated[
        tuple[Annotated[str, Meta(max_length=1024)], ...],
        Field(description="More of the URL, as in sc=0.", list_type="atomic", max_items=100),
    ] = ()


DEFAULT_BUCKET = "fdb-backups"
_BUCKET = "bucket="
Parameters: TypeAlias = Annotated[
    tuple[Annotated[str, Meta(max_length=100)], ...],
    Field(list_type="atomic", max_items=100),
]


def url_of(blob: BlobStore | None, file_url: str, name: str) -> str:
    """Return where an object of this name has its backup; empty: nobody says.

    >>> url_of(BlobStore(account_name="a@host"), "", "nightly")
    'blobstore://a@host:443/nightly?bucket=fdb-backups'
    """
    if file_url:
        return file_url.rstrip("/")
    if blob is None:
        return ""
    bucket = blob.bucket or DEFAULT_BUCKET
    return urls.blob_url(blob.account_name, blob.backup_name or name, bucket, blob.url_parameters)


def store_of(url: str) -> BlobStore | None:
    """Return how an object says that a backup lies at a URL of a blob store; None: it is none.

    >>> url = "blobstore://a@host:443/nightly-1?bucket=b&region=eu"
    >>> url_of(store_of(url), "", "") == url
    True
    >>> store_of("blobstore://a@host:443/nightly").bucket
    'FDB_BACKUP_V2'
    >>> store_of("file:///b")
    """
    parts = urls.blob_parts(url)
    if parts is None:
        return None
    account, name, parameters = parts
    bucket = next((it for it in parameters if it.startswith(_BUCKET)), urls.OLD_BUCKET)
    rest = tuple(it for it in parameters if not it.startswith(_BUCKET))
    return BlobStore(
        account_name=account,
        backup_name=name,
        bucket=bucket.removeprefix(_BUCKET),
        url_parameters=rest,
    )


def knobs(parameters: Iterable[str]) -> Iterator[str]:
    """Yield what all programs of one kind are told alike; where they are, only agents are told.

    >>> list(knobs(["knob_x=1", "locality_dcid=a"]))
    ['--knob_x=1']
    """
    return (option(it) for it in parameters if it.lower().startswith("knob"))


def option(parameter: str) -> str:
    """Return a parameter as a word of a command line.

    >>> option("knob_x = a b")
    '--knob_x=a b'
    """
    name, _, value = parameter.partition("=")
    return f"--{name.strip()}={value.strip()}"
