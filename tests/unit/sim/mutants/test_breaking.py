"""Code is broken in every way that is promised, in one place, and always in the same."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from stateward.sim.mutants.breaking import Place, Way, broken, places


def text(body: str) -> str:
    return ast.unparse(ast.parse(dedent(body)))


WAYS = {
    "negate.1": ("if a: b()", "if not a: b()"),
    "negate.2": (
        "x = [i for i in a if i]; y = 1 if a else 2",
        "x = [i for i in a if not i]; y = 1 if a else 2",
    ),
    "negate.3": ("return a == b", "return not a == b"),
    "negate.4": ("while a: b()", "while not a: b()"),
    "drop-guard.1": ("if a: return 1", "pass"),
    "drop-guard.2": (
        "for i in a:\n        if i: continue\n        b()",
        "for i in a:\n        pass\n        b()",
    ),
    "swap-awaits.1": ("await a()\n    await b()", "await b()\n    await a()"),
    "swap-awaits.2": (
        "with c: await a()\n    x = await b()",
        "x = await b()\n    with c: await a()",
    ),
    "off-by-one.1": ("x = a < b", "x = a <= b"),
    "off-by-one.2": ("x = a >= b", "x = a > b"),
    "off-by-one.3": ("x = a + 1", "x = a + 0"),
    "drop-precondition.1": ("c.delete(a, uid=b)", "c.delete(a)"),
    "drop-precondition.2": ("x = {'uid': a, 'name': b}", "x = {'name': b}"),
    "drop-not.1": ("if not a: b()", "if not not a: b()"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_place_is_broken_in_its_way(way):
    before, after = (f"async def f(a, b, c):\n    {it}\n" for it in WAYS[way])
    wanted = Way(way.partition(".")[0])

    first = next(it for it in places(before) if it.way is wanted)

    assert ast.unparse(broken(before, first, "toy")) == text(after)


ALONE = {
    "what the second needs is not asked for first": "x = await a()\n    await b(x)",
    "an order of awaits that may not be reached": "if a: return await b()\n    await c()",
    "moments fall on neither side": "x = now - since < patience",
    "a log line": "self._log.info(a and b, x=not a)",
    "a measure": "self._meter.seen(1 if a else 2)",
    "a sentence": "x = f'{a if b else c}'",
    "a value that has a UID": "x = PodSeen(uid=a)",
    "two is no step": "x = a + 2",
}


@pytest.mark.parametrize("what", ALONE)
def test_what_is_left_alone(what):
    ways = {Way.SWAP_AWAITS, Way.OFF_BY_ONE, Way.DROP_PRECONDITION, Way.DROP_NOT}
    found = places(f"async def f(self, a, b, c):\n    {ALONE[what]}\n")

    assert not [it for it in found if it.way in ways]


TOY = '''
class Queue:
    def take(self, key):
        """Give one."""
        if not key:
            return None
        return self.line[0] if key in self.line and self.open else None

    @property
    def message(self):
        return "full" if self.full else ""

def wait(seconds): return (lambda it: it > 1 and seconds)
'''


def test_places_have_names_that_say_where():
    assert [str(it) for it in places(TOY)] == [
        "Queue.take:drop-guard.1",
        "Queue.take:drop-not.1",
        "Queue.take:negate.1",
        "wait:off-by-one.1",
    ]


def test_a_name_stays_when_other_functions_move():
    moved = "def before(a):\n    if a: return 1\n" + TOY

    assert [str(it) for it in places(moved)][2:] == [str(it) for it in places(TOY)]


def test_who_asks_for_a_place_that_is_not_there_is_told():
    with pytest.raises(LookupError, match=r"toy has no place wait:negate\.1"):
        broken(TOY, Place("wait", Way.NEGATE, 1), "toy")
