"""What members must be told when they start. Pure.

``existing`` is the rule. ``new`` is said only while no quorum was ever seen, because a member with
an empty disk that is told ``new`` makes a cluster of its own, with the ids of the one that it lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stateward.etcd.model.names import MOST_ORDINALS, ordinal_of
from stateward.etcd.model.view import Config, Replica, View


def of_the_list(view: View, joining: int | None = None) -> Config:
    """Return the config by the quorum's list, and by one that is about to join."""
    entries = []
    for it in view.replicas:
        if it.listed is not None and it.listed.member.started:
            entries.append((alias(it.ordinal), _peer_url(it)))
        elif it.listed is not None or it.ordinal == joining:
            entries.append((it.name, _peer_url(it)))
    return Config(tuple(entries), existing=True)


def of_known(view: View, ordinals: Iterable[int]) -> Config:
    """Return the config of members that have run before, each to come back to its own data."""
    urls = {it.ordinal: it.peer_url for it in view.replicas}
    return Config(tuple((alias(it), urls[it]) for it in sorted(ordinals)), existing=True)


def of_new(view: View, ordinals: Iterable[int]) -> Config:
    """Return the config of members that make a new cluster together."""
    wanted = set(ordinals)
    urls = tuple((it.name, it.peer_url) for it in view.replicas if it.ordinal in wanted)
    return Config(urls, existing=False)


def alias(ordinal: int) -> str:
    """Return what a member that has run is called to others.

    Etcd compares the URLs of this list and looks for its own name in it, both only on an empty
    disk. A member whose disk was emptied therefore does not find itself and stops, instead of
    voting again under its old id with nothing of what it had promised to remember.
    """
    return f"started-{ordinal}"


def lists(config: Config, replica: Replica) -> bool:
    """Tell whether a replica is one of those that a config speaks of."""
    return any(url == replica.peer_url for _, url in config.initial_cluster)


def forced(config: Config) -> Config:
    """Return the same config, for a member that shall go on alone."""
    return replace(config, force_new_cluster=True)


def known_ordinals(view: View) -> tuple[int, ...]:
    """Return the ordinals of the last list that a quorum agreed to."""
    name = view.cluster.metadata.name
    found = (ordinal_of(name, it.name) for it in view.cluster.status.last_known_members)
    # A status can be written by hand: nobody gets hundreds of pods by that.
    return tuple(sorted(it for it in found if it is not None and it < MOST_ORDINALS))


def _peer_url(replica: Replica) -> str:
    """Return the URL as etcd lists it: a joining member must repeat it to the letter."""
    listed = replica.listed
    return listed.member.peer_urls[0] if listed and listed.member.peer_urls else replica.peer_url
