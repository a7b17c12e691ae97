"""Situations in which a real database was asked for its status, brought about in the stand-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fakes.fdb_databases import (
    STRING,
    configured,
    lose,
    server,
    small,
    small_server,
    tls,
    unconfigured,
    unset_pair,
)
from stateward.emulate.fdb.asking.clients import Client, Clients
from stateward.emulate.fdb.backups import agency, backing, restoring
from stateward.emulate.fdb.backups.agent import MemoryAgent
from stateward.emulate.fdb.backups.files import MemoryFiles
from stateward.emulate.fdb.backups.state import AgentSeen, Backup, Restore
from stateward.emulate.fdb.configuration import tokens
from stateward.emulate.fdb.database import Database
from stateward.emulate.fdb.servers import Disk
from stateward.fdb.model import exclusions
from stateward.fdb.model.addresses import Address
from stateward.fdb.model.connection import ConnectionString

STORAGE_5 = "locality_instance_id:storage-5"
USUAL = "new double ssd logs=3 commit_proxies=1"


@dataclass(frozen=True, slots=True)
class Situation:
    """A database, and the cluster file of the one who asks it; none: the right one."""

    database: Database
    string: ConnectionString | None = None


def after(database: Database, seconds: float) -> Database:
    database.advance(database.now + seconds)
    return database


def configure(database: Database, words: str, seconds: float = 0.0) -> Database:
    database.configure(tokens.read(words.split()))
    return after(database, seconds)


def exclude(database: Database, seconds: float, *targets: str, failed: bool = False) -> Database:
    database.exclude([exclusions.parse(it) for it in targets], failed=failed)
    return after(database, seconds)


def lagging(database: Database, names: Sequence[str]) -> Database:
    for name in names:
        database.servers[server(name).disk.process_id].lag = 96.6
    return database


def healthy(seconds: float = 60.0) -> Database:
    """Return a database as in most recordings."""
    return configured(USUAL, seconds=seconds)


def large(seconds: float = 65.0) -> Database:
    """Return one with so much data that it takes a while to move it, so long after a recovery."""
    return configure(configured(size=600_000_000), "logs=3 commit_proxies=1", seconds)


def wiped(name: str) -> Database:
    """Return a database a while after a process lost its disk."""
    database = healthy()
    lose(database, name)
    after(database, 5.0)
    database.join(server(name, database.now, Disk("f" * 32)))
    return after(database, 150.0)


# -------------------------------------------------------------------------- one by one


def just_created() -> Database:
    return configure(unconfigured(), "new double ssd logs=2", 10.0)


def logs_changed() -> Database:
    database = configure(configured(), "double", 3.0)
    for words, seconds in (("proxies=5", 1.0), ("commit_proxies=1 grv_proxies=1", 1.2)):
        configure(database, words, seconds)
    names = ("storage-1", "storage-2", "storage-3", "storage-4")
    return lagging(configure(database, "logs=3", 0.5), names)


def made_single() -> Database:
    database = logs_changed()
    for kind in ("gradual", "disabled"):
        configure(database, f"storage_migration_type={kind}", 1.0)
    return configure(database, "single", 2.2)


def wiggling() -> Database:
    database = healthy()
    words = "perpetual_storage_wiggle=1 storage_migration_type=gradual"
    return configure(database, words, 2.4)


def degraded() -> Database:
    database = large()
    lose(database, "storage-5")
    return after(database, 51.0)


def mostly_excluded() -> Database:
    """Return one whose data went to processes that are made for logs."""
    database = healthy()
    database = exclude(database, 60.0, *(f"127.0.1.{it}:4501" for it in (2, 3, 4, 5)))
    database.cuts = database.now + 5.0
    return database


def being_cut() -> Database:
    database = exclude(large(50.0), 2.0, "127.0.1.5:4501")
    database.cuts = database.now + 5.0
    return database


def stuck_exclusion() -> Database:
    database = small("new double ssd logs=2")
    return exclude(database, 20.0, "127.0.8.2:4501", "127.0.8.3:4501")


def triple() -> Database:
    database = small("new double ssd logs=2")
    database.leave(small_server(3).disk.process_id)
    database.join(small_server(5))
    after(database, 60.0)
    return configure(database, "triple", 7.1)


def failed() -> Database:
    """Return one of which two were given up that were no team: there that was so by chance."""
    database = healthy(43.0)
    both = {server(it).disk.process_id for it in ("storage-1", "storage-2")}
    for it in database.shards.pieces:
        if set(it.team) == both:
            it.team = (it.team[0], server("storage-3").disk.process_id)
    names = ("locality_instance_id:storage-1", "locality_instance_id:storage-2")
    return exclude(database, 7.0, *names, failed=True)


def maintained() -> Database:
    database = after(healthy(), 2.0)
    database.begin_maintenance("z5", 600)
    return database


def maintained_and_clogged() -> Database:
    database = maintained()
    database.clog.unasked.add(server("storage-4").disk.process_id)
    database.clog.lose(["page_cache"])
    return database


def zone_down() -> Database:
    database = maintained()
    lose(database, "storage-5")
    return after(database, 10.0)


def locked() -> Database:
    database = after(healthy(), 20.0)
    database.store.locked_by = "3d0b3fd4bfee6a2ceb20ca9f3475c1a4"
    return database


def lost(seconds: float, *names: str, words: str = USUAL) -> Database:
    database = configured(words)
    lose(database, *names)
    return after(database, seconds)


def coordinator_lost() -> Database:
    database = large(40.0)
    lose(database, "storage-3")
    return after(database, 10.0)


def without_coordinators(seconds: float) -> Database:
    """Return the small cluster, whose coordinators do nothing else, with one of three left."""
    database = small("new double ssd logs=2")
    for number in (11, 12, 13):
        database.join(small_server(number, "coordinator"))
    database.move_coordinators([Address(f"127.0.8.{it}", 4501) for it in (11, 12, 13)])
    after(database, 60.0)
    for number in (12, 13):
        database.leave(small_server(number).disk.process_id)
    return after(database, seconds)


def restarted_alone() -> Database:
    """Return one of two processes, both of which had logs, after it alone was started again."""
    database = unset_pair("new single memory")
    for it in list(database.servers):
        database.leave(it)
    after(database, 10.0)
    (one, _), *_ = database.missing.values()
    database.join(one)
    return after(database, 10.0)


def readonly() -> Situation:
    database = healthy()
    database.move_coordinators([Address(f"127.0.1.{it}", 4501) for it in (1, 2, 4)])
    return Situation(used(after(database, 0.5)), ConnectionString.parse(STRING))


def used(database: Database, many: int = 3) -> Database:
    """Return one that some programs use."""
    for number in range(many):
        database.client_comes(Client(f"127.0.0.1:{33450 + number}"))
    return database


def with_an_old_file(database: Database) -> Database:
    """Return one of whose clients one cannot write its cluster file."""
    text = (
        "Cluster file contents do not match current cluster connection string. Verify the cluster"
        " file and its parent directory are writable and that the cluster file has not been"
        " overwritten externally."
    )
    issue = ("incorrect_cluster_file_contents", text)
    database.client_comes(Client("127.0.0.1:52414", issue=issue))
    return database


URL = "file:///backups/one"


def backed_up(seconds: int, *, stops: bool = False) -> Database:
    """Return a database that is backed up, or was, with tags of which nothing came."""
    made = configured(USUAL)
    for tag in ("noagent", "noagent2", "noagent3"):
        old = Backup(tag, tag.encode().hex().ljust(32, "0"), f"file:///{tag}", 0)
        backing.submit(made, old)
        backing.abort(made, old)
    backing.submit(made, Backup("default", "b" * 32, URL, 0, interval=20, stops=stops))
    agent = MemoryAgent(AgentSeen("a" * 32), FILES)
    for _ in range(seconds):
        agent.step(after(made, 1.0))
    return made


def paused() -> Database:
    """Return one whose agents do nothing, and of whose clients none has told lately."""
    made = backed_up(15)
    made.backups.paused = True
    made.clients = Clients()
    return made


#: Where backups of situations are.
FILES = MemoryFiles()


def restoring_without_agents() -> Database:
    """Return a database into which something shall be restored, by an agent that is gone."""
    made = backed_up(45, stops=True)
    version = made.backups.backups["default"].restorable
    assert version is not None
    restoring.submit(made, Restore("r2", "c" * 32, URL, version))
    agency.leave(made, "a" * 32)
    return after(made, 2.0)


def plain(name: str, make: Callable[[], Database]) -> Callable[[], Situation]:
    return lambda: Situation(make() if name in ALONE else used(make()))


#: Those that nobody was known to use.
ALONE = {
    *("after_configure_single", "right_after_logs_change", "right_after_single_to_double", "tls"),
    "backup_paused",
}


#: By recording: how the same comes about here.
SITUATIONS: dict[str, Callable[[], Situation]] = {
    "readonly_cluster_file": readonly,
    **{
        name: plain(name, make)
        for name, make in {
            "after_configure_single": made_single,
            "after_exclude_failed_by_locality": failed,
            "after_wiped_coordinator": lambda: wiped("storage-3"),
            "after_wiped_storage": lambda: wiped("storage-5"),
            "all_logs_down": lambda: lost(20.0, "log-1", "log-2", "log-3"),
            "degraded_storage_lost": degraded,
            "exclude_in_progress": being_cut,
            "exclude_in_progress_healing": lambda: with_an_old_file(
                exclude(large(), 2.0, "locality_instance_id:storage-4")
            ),
            "exclude_stuck_too_few_zones": stuck_exclusion,
            "excluded_4_of_5_storage_on_log_class": mostly_excluded,
            "excluded_by_locality": lambda: exclude(
                configure(exclude(configured(), 60.0, STORAGE_5), "logs=3 commit_proxies=1"), 18.0
            ),
            "excluded_done": lambda: exclude(healthy(), 60.0, "127.0.1.5:4501"),
            "healthy": lambda: configured(seconds=40.0),
            "incompatible_server": lambda: after(failed(), 60.0),
            "just_created_initializing": just_created,
            "locked": locked,
            "log_lost_1s": lambda: lost(1.0, "log-1"),
            "log_lost_7s": lambda: lost(7.0, "log-1"),
            "maintenance_on": maintained_and_clogged,
            "maintenance_zone_down": zone_down,
            "majority_coordinators_lost": lambda: lost(10.0, "storage-2", "storage-3"),
            "majority_lost_3s": lambda: without_coordinators(3.0),
            "majority_lost_20s": lambda: without_coordinators(20.0),
            "majority_lost_60s": lambda: without_coordinators(60.0),
            "one_coordinator_lost": coordinator_lost,
            "right_after_logs_change": logs_changed,
            "right_after_single_to_double": lambda: configure(made_single(), "double", 1.2),
            "single_memory": restarted_alone,
            "stuck_recruiting": lambda: configure(configured(), "three_data_hall", 20.0),
            "tls": lambda: tls("new single memory", 3.8),
            "triple_with_logs2": triple,
            "unconfigured": unconfigured,
            "wiggle_on": wiggling,
            "backup_running": lambda: backed_up(15),
            "backup_paused": paused,
            "restore_running": restoring_without_agents,
        }.items()
    },
}
