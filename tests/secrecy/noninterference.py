"""Pairs of games that look the same to one player, played while it asks all it can of both, to find any difference."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import chess
import structlog
import trio
from trio.testing import MockClock

from gmd.players.account import is_registered
from tests.helpers import Json
from tests.secrecy.paired_daemons import OBSERVERS, OPPONENTS, Daemon, Distinguished, PairedDaemons, paired_daemons
from tests.secrecy.request_catalogue import Seat
from tests.secrecy.twins import Action, OthersTurn, OwnTurn, Twins, draw_twins


class Count(NamedTuple):
    """Counts of the pairs played, of those with different final positions, and of the replies compared."""

    pairs: int
    different: int
    compared: int


def play_pairs(variant: str, seed: int, pairs: int) -> Count:
    """Play pairs of games of a variant, drawn from a seed, on two new daemons.

    :raises Distinguished: the replies differed somewhere.
    """
    return trio.run(partial(_play_pairs, variant, seed, pairs), clock=MockClock())


async def _play_pairs(variant: str, seed: int, pairs: int) -> Count:
    rng = random.Random(seed)
    clock = trio.lowlevel.current_clock()
    assert isinstance(clock, MockClock)
    played = different = 0
    with quiet():
        async with paired_daemons(clock) as daemons:
            while played < pairs:
                number = min(rng.choice([1, 1, 2, 3]), pairs - played)
                games = [draw_twins(rng, variant=variant) for _ in range(number)]
                try:
                    await play_twins(daemons, games, rng, thorough=rng.random() < 1 / 8)
                except Distinguished as difference:
                    difference.add_note(f"in a game of those of seed {seed} behind the first {played}")
                    raise
                played += len(games)
                different += sum(twins.differ for twins in games)
    return Count(played, different, daemons.compared)


@contextmanager
def quiet() -> Iterator[None]:
    """Log warnings alone: a proof is refused millions of requests, and each refusal is a line in the debug log."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.configure(**before)


async def play_twins(daemons: PairedDaemons, games: Sequence[Twins], rng: random.Random, *, thorough: bool) -> None:
    """Play pairs of games at once, turn by turn in any order, while the observer asks all it can.

    :param thorough: ask everything as a version 1 session too.
    :raises Distinguished: the replies differed somewhere.
    """
    tables: list[_Table] = []
    me = rng.choice(OBSERVERS)
    for twins in games:
        tables.append(_Table(daemons, rng, twins, me if rng.random() < 0.8 else rng.choice(OBSERVERS), tables))
        await tables[-1].begin()
    while playing := [table for table in tables if table.turns]:
        await rng.choice(playing).take_next_turn()
    for table in tables:
        await table.look_at_everything(alone=thorough)
    for table in tables:
        await table.resign()


class _Table:
    """A pair of games in progress."""

    def __init__(
        self, daemons: PairedDaemons, rng: random.Random, twins: Twins, me: int, neighbours: Sequence[_Table]
    ) -> None:
        self.daemons = daemons
        self.rng = rng
        self.twins = twins
        self.turns = list(twins.turns)
        self.me, self.them = me, rng.choice(OPPONENTS)
        #: All tables including this one; others may have other players.
        self.neighbours = neighbours
        self.seat: Seat

    @property
    def due(self) -> bool:
        """Whether the observer is to act."""
        started = chess.Board(self.twins.fen).turn == self.twins.observer
        return started ^ bool(self.seat.ply & 1)

    @property
    def _first_phase(self) -> str:
        return "sense" if self.twins.variant == "rbc" else "move"

    # --- Beginning ----------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Make the game as either player, and take the seats that are open or kept for an invited player."""
        maker = self.rng.choice([self.me, self.them])
        request = self._request(maker)
        if maker == self.me:
            made = json.loads((await self._ask(request))[0])
        else:
            made = await self.daemons.act(**request)
        color, other = ("white", "black") if self.twins.observer else ("black", "white")
        made_by = request if maker == self.me else None
        self.seat = Seat(self.rng, made["game_id"], self.me, self.them, color, self.twins.variant, made_by)
        missing = [
            player
            for player, field in ((self.me, f"player_{color}"), (self.them, f"player_{other}"))
            if request[field] is None or (is_registered(player) and player != maker)
        ]
        await self._join(missing)
        await self.daemons.act("state", self.them, game_id=self.seat.game_id)

    def _request(self, maker: int) -> Json:
        players: list[int | None] = [self.me, self.them] if self.twins.observer else [self.them, self.me]
        if self.rng.random() < 0.4:
            players[self.rng.randrange(2)] = None
        return {
            "kind": "new_game",
            "player": maker,
            "player_white": players[0],
            "player_black": players[1],
            "variant": self.twins.variant,
            "fen": self.twins.fen,
            **self.twins.options,
            "token": str(self.rng.random()),
        }

    async def _join(self, missing: list[int]) -> None:
        for player in self.rng.sample(missing, len(missing)):
            await self.look(3)
            if player == self.me:
                await self._ask(self.seat.mine("join"))
            else:
                await self.daemons.act("join", player, game_id=self.seat.game_id)
        self.seat.begun = True

    # --- Playing ------------------------------------------------------------------------------------------------

    async def take_next_turn(self) -> None:
        """Play the next turn, whichever side it belongs to."""
        self.seat.others = [table.seat.game_id for table in self._others()]
        turn = self.turns.pop(0)
        if isinstance(turn, OwnTurn):
            await self._take_turn(turn)
        else:
            await self._watch_turn(turn)

    def _others(self) -> list[_Table]:
        """Return the other tables of the same player."""
        return [table for table in self.neighbours if table is not self and table.me == self.me]

    async def _take_turn(self, turn: OwnTurn) -> None:
        """Take the observer's turn; the replies to its actions are compared too."""
        seat = self.seat
        seat.phase, seat.turn = self._first_phase, turn
        await self.look(4)
        if seat.phase == "sense":
            square = None if turn.action.sense is None else chess.SQUARE_NAMES[turn.action.sense]
            self._pass_time()
            await self._ask(seat.mine("sense", square=square))
            seat.phase, seat.sensed = "move", (seat.ply, square)
            await self.look(3)
        move = None if turn.action.move is None else turn.action.move.uci()
        self._pass_time()
        await self._ask(seat.mine("move", move=move))
        seat.phase, seat.moved, seat.ply = None, (seat.ply, move), seat.ply + 1

    async def _watch_turn(self, turn: OthersTurn) -> None:
        """Play the opponent's turn, action by action and not at the same time in both; the observer waits or keeps
        asking.
        """
        await self.look(3)
        wait = self._wait() if self.rng.random() < 0.5 else None
        if wait is not None:
            await self.daemons.begin_wait(wait, self.me)
        for daemon, action in zip(self.daemons.daemons, turn.actions, strict=True):
            await self._others_sense(daemon, action)
            if wait is not None:
                await self.daemons.expect_quiet(wait)
            await self.look(2)
            self._pass_time()
        for daemon, action in zip(self.daemons.daemons, turn.actions, strict=True):
            move = None if action.move is None else action.move.uci()
            await daemon.act("move", self.them, game_id=self.seat.game_id, move=move)
        self.seat.ply += 1
        if wait is not None:
            await self.daemons.end_wait(wait)

    async def resign(self) -> None:
        """Resign the game. The reply shows the truth, which differs, so it is not compared."""
        for daemon in self.daemons.daemons:
            ending = f"resignation_{self.seat.color}"
            await daemon.act("end_game", self.me, game_id=self.seat.game_id, termination=ending)
            await daemon.act("ping", self.me)  # ensures that the reply has arrived, so no wait reports this end

    async def _others_sense(self, daemon: Daemon, action: Action) -> None:
        """Let the opponent sense if it can, with failed attempts first; how often it asks must not show."""
        blind = self._first_phase == "sense"
        for _ in range(self.rng.randrange(3)):
            await daemon.attempt("sense", self.them, game_id=self.seat.game_id, square="z9")
            await daemon.attempt("move", self.them, game_id=self.seat.game_id, move="e2e4" if blind else "e9e4")
        if blind:
            await daemon.act("sense", self.them, game_id=self.seat.game_id, square=action.sense)

    def _wait(self) -> Json:
        """Return a ``wait`` for the observer's turn, or a spectator's for the ply, that only this game ends."""
        others = self._others()
        due = [table.seat.game_id for table in others if table.due]
        resting = [table.seat.game_id for table in others if not table.due]
        game_id = self.seat.game_id
        if self.rng.random() < 0.3:
            return {"kind": "wait", "game_id": game_id, "player": None, "ply": self.seat.ply}
        which: Json = self.rng.choice(
            [
                {"game_id": game_id},
                {"game_ids": [*resting, game_id]},
                {"game_ids": [game_id], "seat": self.seat.color},
                {"any": True, "except": due},
            ]
        )
        return {"kind": "wait", "player": self.me, **which, "actions": self.rng.random() < 0.5}

    def _pass_time(self) -> None:
        self.daemons.clock.jump(self.rng.choice([0.0, 0.25, 1.0]))

    # --- Asking -------------------------------------------------------------------------------------------------

    async def look(self, many: int) -> None:
        """Look at the state, and make a few other requests."""
        asked = [self.seat.mine("state", actions=True), *self.rng.sample(list(self.seat.everything()), many)]
        alone = [self.rng.random() < 0.2 for _ in asked]
        await self._ask(*[request for request, by_itself in zip(asked, alone, strict=True) if not by_itself])
        for request, by_itself in zip(asked, alone, strict=True):
            if by_itself:
                await self.daemons.ask_alone(self.seat.alone(request))

    async def look_at_everything(self, *, alone: bool) -> None:
        """Make every possible request."""
        self.seat.phase = self._first_phase if self.due else None
        asked = list(self.seat.everything())
        await self._ask(*asked)
        for request in [*asked, *self.seat.greetings()] if alone else ():
            await self.daemons.ask_alone(self.seat.alone(request))

    async def _ask(self, *requests: Json) -> list[bytes]:
        return await self.daemons.ask(*requests, player=self.me)
