"""Two requests at the same time at two daemons: the game has one history, and both replies fit it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from signal import SIGTERM
from typing import Any

import psycopg
import pytest
import trio

from tests.cluster.test_daemons import Daemons, ask_until_done
from tests.helpers import Client, Json
from tests.helpers_proof import proof_size
from tests.postgres import new_database
from tests.serving import Served

#: White to move may take a draw by the rule of fifty moves, as long as it makes no capture.
FIFTY = "4k3/8/8/8/8/8/R7/4K3 w - - 100 80"
#: What players may do without limits.
FREE = ("--max-failures-per-minute", "1000000", "--max-registrations-per-hour", "1000000")
#: Seconds after which a race counts as hung.
PATIENCE = 60
#: Parts of a state that may differ between two looks at it.
FLEETING = {"home", "error"}

Replies = tuple[Json, Json]


class Racecourse:
    """Two daemons, a connection to each, and two registered players.

    :ivar outcomes: how often each race ended in which way.
    """

    def __init__(self, log: psycopg.Connection[Any], daemons: tuple[Client, Client], rng: random.Random) -> None:
        """:param log: a connection to the daemons' database, with autocommit."""
        self.outcomes: Counter[str] = Counter()
        self.rng = rng
        self.ada: Json = {}
        self.bea: Json = {}
        self._daemons = daemons
        self._log = log
        self._tokens = count()

    async def register(self) -> None:
        """Register the players, and let them be present."""
        for client, name in zip(self._daemons, ("ada", "bea"), strict=True):
            reply = await ask_until_done(client, "register", name=name)
            account = {"player": reply["player"], "key": reply["key"]}
            assert (await client.ask("hello", **account))["error"] is None
            assert (await ask_until_done(client, "settings", max_games=10_000, **account))["error"] is None
            setattr(self, name, account)

    def token(self) -> str:
        """Return a new token."""
        return f"token {next(self._tokens)}"

    async def make(self, **fields: Any) -> int:
        """Make a game at one of the daemons."""
        reply = await self.rng.choice(self._daemons).ask("new_game", **fields)
        assert reply["error"] is None, reply
        game_id: int = reply["game_id"]
        return game_id

    async def ask(self, kind: str, **fields: Any) -> Json:
        """Make a request that is not in a race at one of the daemons; it must succeed."""
        reply = await self.rng.choice(self._daemons).ask(kind, **fields)
        assert reply["error"] is None, reply
        return reply

    async def race(self, first: Json, second: Json) -> Replies:
        """Send two requests at the same time to one daemon each; return their replies."""
        daemons = self.rng.sample(self._daemons, 2)
        sent = list(zip(daemons, (first, second), strict=True))
        before = [self.rng.choice((0, 0, 0, 1, 2, 8)) for _ in sent]
        pairs = [(daemon, request, pings) for (daemon, request), pings in zip(sent, before, strict=True)]
        for daemon, request, pings in self.rng.sample(pairs, 2):
            await daemon.send(*[{"kind": "ping"}] * pings, request)
        replies = []
        for daemon, _, pings in pairs:
            for _ in range(pings):
                assert await daemon.receive() == {"error": None}
            replies.append(await daemon.receive())
        return replies[0], replies[1]

    async def repeat(self, replies: Replies, *requests: Json) -> Replies:
        """Repeat what was not done because the other daemon has used the token meanwhile, as `moved` says."""
        first, second = [
            reply if reply.get("code") != "moved" else await self.rng.choice(self._daemons).ask(**request)
            for reply, request in zip(replies, requests, strict=True)
        ]
        return first, second

    async def look(self, game_id: int, **fields: Any) -> list[Json]:
        """Check that both daemons show the same, and return the events of the log."""
        states = [await daemon.ask("state", game_id=game_id, **fields) for daemon in self._daemons]
        shown = [{name: value for name, value in state.items() if name not in FLEETING} for state in states]
        assert all(state["error"] is None for state in states), states
        assert shown[0] == shown[1]
        found = self._log.execute("SELECT seq, event::jsonb FROM events WHERE game_id = %s ORDER BY seq", [game_id])
        rows = found.fetchall()
        assert [seq for seq, _ in rows] == list(range(len(rows)))
        return [event for _, event in rows if event["event"] != "heard"]

    def games_under(self, token: str) -> list[int]:
        """Return the games that were made with a token."""
        found = self._log.execute("SELECT game_id FROM tokens WHERE token = %s", [token.encode()])
        return [game_id for (game_id,) in found]

    def game_count(self) -> int:
        """Return the number of games in the log."""
        row = self._log.execute("SELECT count(*) FROM games").fetchone()
        assert row is not None
        return int(row[0])

    def note(self, race: str, replies: Replies) -> tuple[str | None, str | None]:
        """Count an outcome, and return the codes."""
        codes = replies[0].get("code"), replies[1].get("code")
        self.outcomes[f"{race} {codes[0] or 'done'}, {codes[1] or 'done'}"] += 1
        return codes


def kinds_of(events: list[Json]) -> list[str]:
    """Return the kinds of a game's events after its creation."""
    assert events[0]["event"] == "created"
    return [event["event"] for event in events[1:]]


# --- The races ----------------------------------------------------------------------------------------------------


async def open_seat(course: Racecourse) -> None:
    """Let two players join a game with one open seat."""
    game_id = await course.make(player_white=1, player_black=None)
    joins = [{"kind": "join", "game_id": game_id, "player": player} for player in (2, 3)]
    replies = await course.race(*joins)
    codes = course.note("join, join:", replies)
    assert sorted(codes, key=str) == [None, "not_available"], replies
    events = await course.look(game_id, player=1)
    assert events[1:] == [{"event": "joined", "seat": "black", "player": 2 if codes[0] is None else 3}]


async def join_or_call_off(course: Racecourse) -> None:
    """Join a game while its maker calls it off."""
    game_id = await course.make(player_white=1, player_black=None)
    join = {"kind": "join", "game_id": game_id, "player": 2}
    replies = await course.race(join, {"kind": "decline", "game_id": game_id, "player": 1})
    codes = course.note("join, decline:", replies)
    kinds = kinds_of(await course.look(game_id, player=1))
    assert (codes, kinds) in [((None, "not_available"), ["joined"]), (("game_over", None), ["ended"])], replies


async def accept_or_withdraw(course: Racecourse) -> None:
    """Accept an invitation while it is withdrawn, or declined at another daemon."""
    asked = await course.ask("challenge", opponent="bea", **course.ada)
    game_id = asked["game_id"]
    accept = {"kind": course.rng.choice(("accept", "join")), "game_id": game_id, **course.bea}
    decline = {"kind": "decline", "game_id": game_id, **course.rng.choice((course.ada, course.bea))}
    replies = await course.race(accept, decline)
    codes = course.note("accept, decline:", replies)
    kinds = kinds_of(await course.look(game_id, **course.ada))
    assert (codes, kinds) in [((None, "not_available"), ["joined"]), (("game_over", None), ["ended"])], replies


async def two_acceptances(course: Racecourse) -> None:
    """Accept an invitation at two daemons."""
    game_id = (await course.ask("challenge", opponent="ada", **course.bea))["game_id"]
    accept = {"kind": "accept", "game_id": game_id, **course.ada}
    replies = await course.race(accept, accept)
    assert course.note("accept, accept:", replies) == (None, None), replies
    assert kinds_of(await course.look(game_id, **course.ada)) == ["joined"]


async def two_challenges(course: Racecourse) -> None:
    """Let two players challenge each other."""
    before = course.game_count()
    replies = await course.race(
        {"kind": "challenge", "opponent": "bea", **course.ada}, {"kind": "challenge", "opponent": "ada", **course.bea}
    )
    assert course.note("challenge, challenge:", replies) == (None, None), replies
    assert course.game_count() == before + 2
    for reply, account, other in zip(replies, (course.ada, course.bea), (course.bea, course.ada), strict=True):
        assert kinds_of(await course.look(reply["game_id"], **account)) == []
        await course.ask("decline", game_id=reply["game_id"], **other)


async def resign_or_sense(course: Racecourse) -> None:
    """Resign while the opponent senses."""
    game_id = await course.make(player_white=1, player_black=2, variant="rbc")
    sense = {"kind": "sense", "game_id": game_id, "player": 1, "square": "e7", "ply": 0}
    resign = {"kind": "end_game", "game_id": game_id, "player": 2, "termination": "resignation_black"}
    replies = await course.race(sense, resign)
    codes = course.note("sense, resign:", replies)
    kinds = kinds_of(await course.look(game_id, player=1))
    assert (codes, kinds) in [((None, None), ["sensed", "ended"]), (("game_over", None), ["ended"])], replies


async def claim_or_move(course: Racecourse) -> None:
    """Take a draw at one daemon and move at the other."""
    game_id = await course.make(player_white=1, player_black=2, fen=FIFTY)
    move = {"kind": "move", "game_id": game_id, "player": 1, "move": "Rb2"}
    claim = {"kind": "end_game", "game_id": game_id, "player": 1, "termination": "taken_draw_white"}
    ply = {"ply": 0} if course.rng.random() < 0.5 else {}
    replies = await course.race(move | ply, claim | ply)
    codes = course.note("move, claim:", replies)
    kinds = kinds_of(await course.look(game_id, player=1))
    late = "stale" if ply else "not_your_turn"
    assert (codes, kinds) in [((None, late), ["moved"]), (("game_over", None), ["ended"])], replies


async def agree_or_move(course: Racecourse) -> None:
    """Accept a draw at one daemon, and decline it by a move at the other."""
    game_id = await course.make(player_white=1, player_black=2)
    await course.ask("move", game_id=game_id, player=1, move="e4", offer_draw=True)
    move = {"kind": "move", "game_id": game_id, "player": 2, "move": "e5", "ply": 1}
    agree = {"kind": "end_game", "game_id": game_id, "player": 2, "termination": "draw_agreed", "ply": 1}
    replies = await course.race(move, agree)
    codes = course.note("move, agree:", replies)
    kinds = kinds_of(await course.look(game_id, player=1))
    assert (codes, kinds) in [((None, "stale"), ["moved", "moved"]), (("game_over", None), ["moved", "ended"])], replies


async def two_moves(course: Racecourse) -> None:
    """Make two moves, or the same one twice, in the same position."""
    game_id = await course.make(player_white=1, player_black=2)
    moves = course.rng.choice((("e4", "d4"), ("e4", "e2e4")))
    first, second = ({"kind": "move", "game_id": game_id, "player": 1, "move": move, "ply": 0} for move in moves)
    replies = await course.race(first, second)
    codes = course.note(f"move {moves[0]}, move {moves[1]}:", replies)
    [event] = (await course.look(game_id, player=1))[1:]
    if moves[1] == "e2e4":
        assert (codes, event["move"]) == ((None, None), "e2e4"), replies
    else:
        done = {(None, "stale"): "e2e4", ("stale", None): "d2d4"}
        assert done.get(codes) == event["move"], replies  # type: ignore[call-overload]


async def one_token(course: Racecourse) -> None:
    """Ask two daemons for the same new game, under one token."""
    before = course.game_count()
    request = {"kind": "new_game", "player_white": 1, "player_black": 2, "token": course.token(), "player": 1}
    if course.rng.random() < 0.5:
        request |= {"variant": "rbc"}
    replies = await course.race(request, request)
    replies = await course.repeat(replies, request, request)
    assert course.note("new_game twice:", replies) == (None, None), replies
    assert replies[0]["game_id"] == replies[1]["game_id"], replies
    assert course.game_count() == before + 1
    assert kinds_of(await course.look(replies[0]["game_id"], player=1)) == []


async def one_token_for_two_games(course: Racecourse) -> None:
    """Ask two daemons for different games under one token."""
    before = course.game_count()
    request = {"kind": "new_game", "player_white": 1, "player_black": 2, "token": course.token(), "player": 1}
    other = request | {"variant": "rbc"}
    replies = await course.repeat(await course.race(request, other), request, other)
    codes = course.note("new_game, another one:", replies)
    assert sorted(codes, key=str) == [None, "bad_request"], replies
    assert course.game_count() == before + 1
    [made] = [reply["game_id"] for reply in replies if reply["error"] is None]
    assert kinds_of(await course.look(made, player=1)) == []


async def one_token_of_a_challenge(course: Racecourse) -> None:
    """Send the same challenge to two daemons, under one token."""
    before = course.game_count()
    request = {"kind": "challenge", "opponent": "bea", "token": course.token(), **course.ada}
    replies = await course.repeat(await course.race(request, request), request, request)
    assert course.note("challenge twice:", replies) == (None, None), replies
    assert replies[0]["game_id"] == replies[1]["game_id"], replies
    assert course.game_count() == before + 1
    await course.ask("decline", game_id=replies[0]["game_id"], **course.ada)


async def two_seeks(course: Racecourse) -> None:
    """Let two players seek the same game."""
    before = course.game_count()
    replies = await course.race({"kind": "seek", **course.ada}, {"kind": "seek", **course.bea})
    assert course.note("seek, seek:", replies) == (None, None), replies
    [made] = [reply["game_id"] for reply in replies if reply["game_id"] is not None]
    assert course.game_count() == before + 1
    assert kinds_of(await course.look(made, **course.ada)) == []
    await course.ask("decline", game_id=made, **course.bea)


async def one_name(course: Racecourse) -> None:
    """Register the same name twice."""
    name = course.token().replace(" ", "-")
    replies = await course.race({"kind": "register", "name": name}, {"kind": "register", "name": name})
    codes = course.note("register, register:", replies)
    assert sorted(codes, key=str) == [None, "not_available"], replies


RACES: list[Callable[[Racecourse], Awaitable[None]]] = [
    *(open_seat, join_or_call_off, accept_or_withdraw, two_acceptances, two_challenges, resign_or_sense),
    *(claim_or_move, agree_or_move, two_moves, one_token, one_token_for_two_games, one_token_of_a_challenge),
    *(two_seeks, one_name),
]


@pytest.fixture(scope="module")
def two_daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemons, Served, Served]]:
    with new_database() as url, ExitStack() as stack:
        daemons = Daemons(url, Path(tmp_path_factory.mktemp("races")), stack)
        one, two = daemons.start(*FREE), daemons.start(*FREE)
        yield daemons, one, two
        assert one.stop(SIGTERM) == 0
        assert two.stop(SIGTERM) == 0


@asynccontextmanager
async def racecourse(two_daemons: tuple[Daemons, Served, Served], seed: str) -> AsyncIterator[Racecourse]:
    daemons, one, two = two_daemons
    await daemons.until(one, two)
    async with one.client() as first, two.client() as second:
        with psycopg.connect(daemons.url, autocommit=True) as log:
            course = Racecourse(log, (first, second), random.Random(seed))
            await course.register()
            yield course


@pytest.mark.proof
async def test_requests_at_the_same_time_at_two_daemons_make_one_history(
    two_daemons: tuple[Daemons, Served, Served],
) -> None:
    rounds = proof_size(small=56, full=1_000)
    async with racecourse(two_daemons, "races") as course:
        for number in range(rounds):
            with trio.fail_after(PATIENCE):
                await RACES[number % len(RACES)](course)
        for outcome, times in sorted(course.outcomes.items()):
            print(f"{times:5} {outcome}")
        assert sum(course.outcomes.values()) == rounds
