"""Asks about two games that look the same to one player, and finds whether any byte of the replies is different."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import chess
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gm_protocol.framing import encode_frame
from tests.helpers import Client, Json, MemoryDaemon, memory_daemon
from tests.twin_games import Action, OthersTurn, OwnTurn, Twins

#: The observer, its opponent, and somebody who has no part in the game.
OBSERVER, OPPONENT, STRANGER = 1, 2, 77

#: The one part of a reply that is a reading of a clock: trio's own stands still between the steps of a game.
_WALL_TIME = re.compile(rb'"created":"[^"]*"')


class Told(AssertionError):
    """The observer was told which of the two games it plays."""


class Room:
    """One of the two games, on a daemon of its own."""

    def __init__(self, daemon: MemoryDaemon) -> None:
        self.daemon = daemon
        self.replies: list[bytes] = []

    async def open(self, nursery: trio.Nursery) -> None:
        """Begin the sessions: the observer's two, on one of which it waits, and the opponent's."""
        self.observer = await self.daemon.connect(player=OBSERVER)
        self.waiting = await self.daemon.connect(player=OBSERVER)
        self.opponent = await self.daemon.connect(player=OPPONENT)
        nursery.start_soon(self._collect)

    async def _collect(self) -> None:
        """Take the replies to the observer's ``wait`` as they come."""
        while (body := await self.waiting.receive_body()) is not None:
            self.replies.append(body)

    async def act(self, kind: str, game_id: int, **fields: object) -> None:
        """The opponent does something, which must succeed."""
        reply = await self.opponent.ask(kind, game_id=game_id, brief=True, **fields)
        assert reply["error"] is None, reply


class Rooms:
    """Both of them."""

    def __init__(self, rooms: Sequence[Room], clock: MockClock) -> None:
        self.rooms = rooms
        self.clock = clock
        self.compared = 0

    async def ask(self, *requests: Json) -> list[bytes]:
        """Send the observer's requests to both, in its session; the replies, which are the same."""
        data = b"".join(map(_frame, requests))
        replies = []
        for room in self.rooms:
            await room.observer.send_bytes(data)
            replies.append([await _body(room.observer) for _ in requests])
        for request, one, other in zip(requests, *replies, strict=True):
            self._compare(request, one, other)
        return replies[0]

    async def ask_alone(self, request: Json) -> None:
        """Send a request to both on a connection of its own: a version 1 session, unless it is a ``hello``."""
        replies = []
        for room in self.rooms:
            client = await room.daemon.connect(hello=False)
            await client.send_bytes(_frame(request))
            await client.end()
            replies.append(await _body(client))
            assert await client.closed()
        self._compare(request, *replies)

    async def begin_wait(self, request: Json) -> None:
        """Let the observer wait in both."""
        for room in self.rooms:
            room.replies.clear()
            await room.waiting.send_bytes(_frame(request))
        await self.expect_quiet(request)

    async def expect_quiet(self, request: Json) -> None:
        """Nothing has come in answer to the ``wait``."""
        await wait_all_tasks_blocked()
        if any(room.replies for room in self.rooms):
            raise Told(f"{request} was answered: {[room.replies for room in self.rooms]}")

    async def end_wait(self, request: Json) -> None:
        """The ``wait`` has been answered once in both, in the same words."""
        await wait_all_tasks_blocked()
        one, other = (room.replies for room in self.rooms)
        if (len(one), len(other)) != (1, 1):
            raise Told(f"{request} was answered {len(one)} and {len(other)} times")
        self._compare(request, one[0], other[0])

    def _compare(self, request: Json, one: bytes, other: bytes) -> None:
        self.compared += 1
        if _WALL_TIME.sub(b"", one) != _WALL_TIME.sub(b"", other):
            raise Told(f"{request}\n{one.decode()}\n{other.decode()}")


@asynccontextmanager
async def two_rooms(clock: MockClock) -> AsyncIterator[Rooms]:
    """Two daemons that nobody has used yet."""
    async with memory_daemon() as one, memory_daemon() as other, trio.open_nursery() as nursery:
        rooms = [Room(one), Room(other)]
        for room in rooms:
            await room.open(nursery)
        yield Rooms(rooms, clock)
        nursery.cancel_scope.cancel()


async def play_twins(rooms: Rooms, twins: Twins, rng: random.Random, *, thorough: bool) -> None:
    """Play a pair of games, the observer asking all it can.

    :param thorough: ask everything as a version 1 session too.
    :raises Told: some reply was different.
    """
    table = await _begin(rooms, twins, rng)
    for turn in twins.turns:
        if isinstance(turn, OwnTurn):
            await table.take_turn(turn)
        else:
            await table.watch_turn(turn)
    await table.look_at_everything(alone=thorough, on_turn=twins.boards[0].turn == twins.observer)
    await table.resign()


async def _begin(rooms: Rooms, twins: Twins, rng: random.Random) -> _Table:
    white = twins.observer == chess.WHITE
    request: Json = {
        "kind": "new_game",
        "player_white": OBSERVER if white else OPPONENT,
        "player_black": OPPONENT if white else OBSERVER,
        "variant": "rbc",
        "fen": twins.fen,
        "token": str(rng.random()),
        "player": OBSERVER,
    }
    if rng.random() < 0.2:
        request["clock"] = None
    [reply] = await rooms.ask(request)
    table = _Table(rooms, rng, request, json.loads(reply)["game_id"], twins.observer)
    for room in rooms.rooms:
        await room.act("state", table.game_id)
    return table


class _Table:
    """The pair of games under way, with what the observer knows of both."""

    def __init__(self, rooms: Rooms, rng: random.Random, made_by: Json, game_id: int, seat: chess.Color) -> None:
        self.rooms = rooms
        self.rng = rng
        self.made_by = made_by
        self.game_id = game_id
        self.color, self.other = ("white", "black") if seat else ("black", "white")
        self.ply = 0
        #: What the observer is to do: "sense", "move", or None off its turn.
        self.phase: str | None = None
        self.turn: OwnTurn | None = None
        #: Its latest sense and move: the ply they were made at, and the square, or the move in UCI.
        self.sensed: tuple[int, str | None] | None = None
        self.moved: tuple[int, str | None] | None = None

    # --- Playing ------------------------------------------------------------------------------------------------

    async def take_turn(self, turn: OwnTurn) -> None:
        """The observer's turn: what it does is answered alike, too."""
        self.phase, self.turn = "sense", turn
        await self.look(4)
        square = None if turn.action.sense is None else chess.SQUARE_NAMES[turn.action.sense]
        self._pass_time()
        await self.rooms.ask(self._mine("sense", square=square))
        self.phase, self.sensed = "move", (self.ply, square)
        await self.look(3)
        move = None if turn.action.move is None else turn.action.move.uci()
        self._pass_time()
        await self.rooms.ask(self._mine("move", move=move))
        self.phase, self.moved, self.ply = None, (self.ply, move), self.ply + 1

    async def watch_turn(self, turn: OthersTurn) -> None:
        """The opponent's turn, action by action and not at once in both; the observer waits, or goes on asking."""
        await self.look(3)
        wait = self._wait() if self.rng.random() < 0.5 else None
        if wait is not None:
            await self.rooms.begin_wait(wait)
        for room, action in zip(self.rooms.rooms, turn.actions, strict=True):
            await self._others_sense(room, action)
            if wait is not None:
                await self.rooms.expect_quiet(wait)
            await self.look(2)
            self._pass_time()
        for room, action in zip(self.rooms.rooms, turn.actions, strict=True):
            await room.act("move", self.game_id, move=None if action.move is None else action.move.uci())
        self.ply += 1
        if wait is not None:
            await self.rooms.end_wait(wait)

    async def resign(self) -> None:
        """End it. What the reply shows is the truth, and different."""
        for room in self.rooms.rooms:
            reply = await room.observer.ask(
                "end_game", game_id=self.game_id, termination=f"resignation_{self.color}", brief=True
            )
            assert reply["error"] is None, reply

    async def _others_sense(self, room: Room, action: Action) -> None:
        """The opponent senses, and may be clumsy about it: how often it asks is its own affair."""
        for _ in range(self.rng.randrange(3)):
            await room.opponent.ask("move", game_id=self.game_id, move="e2e4")
            await room.opponent.ask("sense", game_id=self.game_id, square="z9")
        await room.act("sense", self.game_id, square=action.sense)

    def _pass_time(self) -> None:
        self.rooms.clock.jump(self.rng.choice([0.0, 0.25, 1.0]))

    # --- Asking -------------------------------------------------------------------------------------------------

    async def look(self, many: int) -> None:
        """Look at the state, and ask a few things."""
        asked = [self._mine("state", actions=True), *self.rng.sample(list(self._everything()), many)]
        alone = [self.rng.random() < 0.2 for _ in asked]
        await self.rooms.ask(*[request for request, by_itself in zip(asked, alone, strict=True) if not by_itself])
        for request, by_itself in zip(asked, alone, strict=True):
            if by_itself:
                await self.rooms.ask_alone(request)

    async def look_at_everything(self, *, alone: bool, on_turn: bool) -> None:
        """Ask everything there is to ask."""
        self.phase = "sense" if on_turn else None
        asked = list(self._everything())
        await self.rooms.ask(*asked)
        for request in asked if alone else ():
            await self.rooms.ask_alone(request)

    def _mine(self, kind: str, **fields: object) -> Json:
        request: Json = {"kind": kind, "game_id": self.game_id, "player": OBSERVER, **fields}
        if self.rng.random() < 0.3:
            request["brief"] = True
        if self.rng.random() < 0.3:
            request["seat"] = self.color
        if self.rng.random() < 0.2:
            request["id"] = self.rng.choice([7, "seven"])
        return request

    def _wait(self) -> Json:
        """A ``wait`` for the observer's turn, or a spectator's for the ply."""
        if self.rng.random() < 0.3:
            return {"kind": "wait", "game_id": self.game_id, "player": None, "ply": self.ply}
        which: Json = self.rng.choice([{"game_id": self.game_id}, {"game_ids": [self.game_id]}, {"any": True}])
        return {"kind": "wait", "player": OBSERVER, **which, "actions": self.rng.random() < 0.5}

    def _everything(self) -> Iterator[Json]:
        """Every request that changes nothing: looks, retries, and whatever is refused."""
        yield from self._looks()
        yield from self._others_looks()
        yield from self._refused()
        yield from self._senses()
        yield from self._moves()
        yield from self._endings()

    def _looks(self) -> Iterator[Json]:
        for actions in (True, False):
            yield self._mine("state", actions=actions)
            yield self._mine("wait", timeout=0, actions=actions)
        yield self._mine("actions")
        yield {"kind": "wait", "player": OBSERVER, "game_ids": [self.game_id], "timeout": 0, "actions": True}
        yield {"kind": "wait", "player": OBSERVER, "any": True, "timeout": 0, "actions": True}
        yield {"kind": "wait", "player": OBSERVER, "any": True, "except": [self.game_id], "timeout": 0}
        yield {"kind": "history", "game_id": self.game_id, "player": OBSERVER}
        yield {"kind": "games", "player": OBSERVER, "limit": 2}
        yield {"kind": "games", "player": None, "limit": 1}
        yield {"kind": "games", "player": None, "status": "live", "variant": "rbc", "limit": 2}
        yield {"kind": "games", "player": OPPONENT, "limit": 1, "before": self.game_id + 1}
        yield {"kind": "games", "player": None, "status": "over", "limit": 1}
        yield self.made_by
        yield {**self.made_by, "player_white": STRANGER}

    def _others_looks(self) -> Iterator[Json]:
        """As nobody, as somebody else, and from the other seat."""
        for player in (None, STRANGER):
            yield {"kind": "state", "game_id": self.game_id, "player": player, "actions": True}
            yield {"kind": "history", "game_id": self.game_id, "player": player}
        yield {"kind": "actions", "game_id": self.game_id, "player": STRANGER}
        yield {"kind": "actions", "game_id": self.game_id, "player": None}
        yield {"kind": "wait", "game_id": self.game_id, "player": STRANGER, "timeout": 0}
        for ply in (self.ply - 1, self.ply):
            if ply >= 0:
                yield {"kind": "wait", "game_id": self.game_id, "player": None, "ply": ply, "timeout": 0}
        for kind, fields in (
            ("state", {"actions": True}),
            ("wait", {"timeout": 0}),
            ("actions", {}),
            ("sense", {"square": "e4"}),
            ("move", {"move": "e2e4"}),
            ("end_game", {"termination": "draw_agreed"}),
        ):
            yield {"kind": kind, "game_id": self.game_id, "player": OBSERVER, **fields, "seat": self.other}

    def _refused(self) -> Iterator[Json]:
        """Refused before anything is looked at, or right behind."""
        for kind in ("sense", "move", "end_game", "state", "wait", "actions", "history"):
            yield {"kind": kind, "game_id": self.game_id + 1, "player": OBSERVER, "square": None, "move": None, **_END}
            yield {"kind": kind, "game_id": self.game_id, "player": 2**52, "square": None, "move": None, **_END}
            yield {"kind": kind, "game_id": str(self.game_id), "player": OBSERVER}
        yield self._mine("sense")
        yield self._mine("move")
        yield self._mine("sense", square=1.5)
        yield self._mine("move", move=12)
        yield self._mine("state", seat="gold")
        yield self._mine("moves", move="e2e4")
        yield self._mine("wait", ply=self.ply, timeout=0)

    def _senses(self) -> Iterator[Json]:
        for square in ("z9", "", "E4", "e44", 64, -1, 10**12):
            yield self._mine("sense", square=square)
            yield self._mine("sense", square=square, ply=self.ply)
        for ply in (self.ply + 1, self.ply - 2, 10**9):
            if ply >= 0 and (ply, "e4") != self.sensed:
                yield self._mine("sense", square="e4", ply=ply)
        if self.phase != "sense":
            yield self._mine("sense", square="e4")
            yield self._mine("sense", square=None, ply=self.ply)
        if self.sensed is not None:  # sent again: the same, otherwise written, and another
            ply, square = self.sensed
            yield self._mine("sense", square=square, ply=ply)
            yield self._mine("sense", square=None if square is None else chess.parse_square(square), ply=ply)
            if ply != self.ply:
                yield self._mine("sense", square="b2" if square != "b2" else "b3", ply=ply)

    def _moves(self) -> Iterator[Json]:
        for text in ("e9e4", "Nf3", "e4", "O-O", "--", "", "P@e4", "e2e4 ", "e1e1"):
            yield self._mine("move", move=text)
        for ply in (self.ply + 1, self.ply - 2, 10**9):
            if ply >= 0 and (ply, "e2e4") != self.moved:
                yield self._mine("move", move="e2e4", ply=ply)
        if self.turn is not None:
            yield self._mine("move", move=self.turn.forbidden.uci())
            yield self._mine("move", move=self.turn.forbidden.uci(), ply=self.ply)
            if self.phase != "move":
                for move in self.rng.sample(self.turn.allowed, min(4, len(self.turn.allowed))):
                    yield self._mine("move", move=move.uci())
                yield self._mine("move", move=None)
            for move in self.rng.sample(self.turn.allowed, min(4, len(self.turn.allowed))):
                yield self._mine("move", move=move.uci(), offer_draw=True)
        if self.moved is not None:
            ply, move_made = self.moved
            yield self._mine("move", move=move_made, ply=ply)
            yield self._mine("move", move=move_made, ply=ply, offer_draw=True)
            yield self._mine("move", move="a1a2" if move_made != "a1a2" else "a1a3", ply=ply)

    def _endings(self) -> Iterator[Json]:
        for termination in ("taken_draw_white", "taken_draw_black", "draw_agreed", f"resignation_{self.other}"):
            yield self._mine("end_game", termination=termination)
            yield self._mine("end_game", termination=termination, ply=self.ply)
        for ply in (self.ply + 1, self.ply - 1):
            if ply >= 0:
                yield self._mine("end_game", termination=f"resignation_{self.color}", ply=ply)
        yield self._mine("end_game", termination="checkmate")


_END: Json = {"termination": "draw_agreed"}


def _frame(request: Json) -> bytes:
    return encode_frame(json.dumps(request).encode())


async def _body(client: Client) -> bytes:
    body = await client.receive_body()
    assert body is not None, "the daemon closed the connection"
    return body
