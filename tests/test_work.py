"""The server runs the same lines for a player whatever is hidden from it, so that no clock could reveal it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import chess
import pytest
import trio
from trio.testing import MockClock

from gm_recon.board import ReconBoard
from gmd.games import facts, own_pieces, position, rbc, views
from tests.helpers import Json, memory_daemon
from tests.noninterference import quiet
from tests.planted_belief import observed_with_whole_board
from tests.probing import Server
from tests.proofs import cases
from tests.twin_games import Action, Limits, OthersTurn, OwnTurn, Twins, draw_twins

OBSERVER, OPPONENT = 1, 2

#: The most positions kept for a belief: tracing them all would take minutes.
MOST_POSITIONS = 12

#: The number of drawn pairs of games in the ordinary run.
PAIRS = 6

#: The observer's requests between actions.
ALL: list[Json] = [
    {"kind": "state"},
    {"kind": "state", "actions": True},
    {"kind": "state", "brief": True},
    {"kind": "actions"},
    {"kind": "belief", "samples": 2},
    {"kind": "wait", "timeout": 0},
    {"kind": "sense", "square": "z9"},
    {"kind": "move", "move": "a1a1"},
    {"kind": "history"},
]

#: A request of the observer's, and the lines that ran to answer it.
Work = tuple[str, list[str]]


def _share_own_pieces() -> None:
    """Share a cache of own pieces, as the server once did."""
    own_pieces.show_own = lru_cache(4_096)(own_pieces.show_own)


def _look_for_en_passant() -> None:
    """Look at the move whether anything can capture en passant."""
    rbc.pack_unchecked = position.pack


def _share_true_positions() -> None:
    """Make the facts of the true position for a seat, in the cache that open games share."""
    blind = views._blind_state

    def state(game: Any, shown: Any, *args: Any, **fields: Any) -> Any:
        facts.facts_of(position.settled(shown.position))
        return blind(game, shown, *args, **fields)

    views._blind_state = state


def _note_what_is_taken() -> None:
    """Look at a taken piece more closely if it is no pawn."""
    take = ReconBoard._take

    def taking(self: ReconBoard, square: chess.Square) -> None:
        if not self._pawns[self.turn] >> square & 1:
            self.fen()
        take(self, square)

    ReconBoard._take = taking  # type: ignore[method-assign]


def _believe_in_the_true_position() -> None:
    """Make a player's belief of the true position, too."""
    views.observed_in_play = observed_with_whole_board


PLANTS: dict[str, Callable[[], None]] = {
    "the cache of own pieces that all games shared": _share_own_pieces,
    "a belief made of the true position": _believe_in_the_true_position,
    "looking for en passant": _look_for_en_passant,
    "the facts of true positions": _share_true_positions,
    "what is taken": _note_what_is_taken,
}


def test_server_runs_the_same_lines_in_games_that_look_the_same() -> None:
    requests = 0
    for one, other in in_both(cases(PAIRS)):
        assert one == other
        requests += len(one)
    assert requests > 500


@pytest.mark.parametrize("plant", [*PLANTS])
def test_work_that_depends_on_hidden_state_is_found(plant: str) -> None:
    assert any(one != other for one, other in in_both(PAIRS, plant))


async def test_opponents_sense_changes_no_line(mock_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        daemon.arbiter.bench.slice_seconds = 0.0
        server = Server(daemon)
        rng = random.Random("sense")
        table = _Table(server, Twins(chess.STARTING_FEN, chess.BLACK, Limits(None, None)), 0, rng)
        await table.begin()
        await table.server.act("state", OPPONENT, **table.seat)  # both players have made contact, and the clock runs
        await table.look(ALL)
        table.work.clear()
        await table.look(ALL)
        unsensed = table.work.copy()
        table.work.clear()
        await table.opponent("sense", square="e7")
        await table.look(ALL)
        assert [differs for differs in zip(table.work, unsensed, strict=True) if differs[0] != differs[1]] == []


def in_both(pairs: int, plant: str | None = None) -> Iterator[tuple[list[Work], list[Work]]]:
    """Yield the work for the observer in either version of some pairs of games, each version in a fresh process."""
    context = get_context("forkserver")  # a new process for each, but what they import is loaded once
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(2, context, max_tasks_per_child=1) as pool:
        yield from zip(*pool.map(works, (0, 1), (pairs, pairs), (plant, plant)), strict=True)


def works(version: int, pairs: int, plant: str | None) -> list[list[Work]]:
    """Return the work for the observer in one version of some pairs of games."""
    if plant is not None:
        PLANTS[plant]()
    # The clock stands still: on a slow machine beliefs would reach the 120 seconds after which they lose their place.
    return trio.run(_works, version, pairs, clock=MockClock())


async def _works(version: int, pairs: int) -> list[list[Work]]:
    with quiet():
        async with memory_daemon() as daemon:
            daemon.services.beliefs.cap = MOST_POSITIONS
            daemon.arbiter.bench.slice_seconds = 0.0  # so that no clock says where long work is interrupted
            server = Server(daemon)
            await _Table(server, draw_twins(random.Random("before")), 0, random.Random(0)).play()  # for one-time work
            works = [await _Table(server, _beside(), version, random.Random(0)).play()]
            for seed in range(pairs):
                rng = random.Random(seed)
                works.append(await _Table(server, draw_twins(rng), version, rng).play())
            return works


def _beside() -> Twins:
    """Return a pair of games in the first of which the observer's pawn unknowingly passes one of its opponent's."""
    advance, passing = chess.Move.from_uci("d5d4"), chess.Move.from_uci("e2e4")
    twins = Twins("4k3/8/8/3p4/8/8/4P3/4K3 b - - 0 1", chess.WHITE, Limits(None, None), {"clock": None})
    twins.turns += [
        OthersTurn((Action(None, advance), Action(None, None))),
        OwnTurn(Action(None, passing), [], forbidden=advance),
    ]
    for board, move in zip(twins.boards, (advance, chess.Move.null()), strict=True):
        board.set_fen(twins.fen)
        board.push(move)
        board.push(passing)
    return twins


class _Table:
    """One of a pair of games in progress."""

    def __init__(self, server: Server, twins: Twins, version: int, rng: random.Random) -> None:
        self.server, self.twins, self.version, self.rng = server, twins, version, rng
        self.color = "white" if twins.observer else "black"
        self.work: list[Work] = []
        self.seat: Json = {}

    async def begin(self) -> None:
        """Make the game."""
        players = {self.color: OBSERVER, "black" if self.twins.observer else "white": OPPONENT}
        made = await self.server.act(
            "new_game",
            **{f"player_{color}": player for color, player in players.items()},
            variant="rbc",
            fen=self.twins.fen,
            **self.twins.options,
        )
        self.seat = {"game_id": made["game_id"]}

    async def play(self) -> list[Work]:
        """Play it turn by turn, while the observer makes its requests; then play games from the possible positions."""
        await self.begin()
        for turn in self.twins.turns:
            if isinstance(turn, OwnTurn):
                await self._take_turn(turn.action.sense, turn.action.move)
            else:
                action = turn.actions[self.version]
                await self._look()
                await self.opponent("sense", square=action.sense)
                await self._look()
                await self.opponent("move", move=None if action.move is None else action.move.uci())
        await self._look()
        for board in self.twins.boards:
            await self._guess(board)
        return self.work

    async def _take_turn(self, square: chess.Square | None, move: chess.Move | None) -> None:
        await self._look()
        await self._ask("sense", **self.seat, square=square)
        await self._look()
        await self._ask("move", **self.seat, move=None if move is None else move.uci())
        await self._look()

    async def _look(self) -> None:
        """Make some of the requests, the same in either version."""
        await self.look(self.rng.sample(ALL, 4))

    async def look(self, requests: Iterable[Json]) -> None:
        """Make these requests in the game."""
        for request in requests:
            await self._ask(**request, **self.seat)

    async def _guess(self, board: chess.Board) -> None:
        """Make a game from a possible true position, and look at it from both sides."""
        players = {"player_white": 11, "player_black": 12}
        fen = board.fen(en_passant="fen")
        guessed = await self._ask(
            "new_game", 11, **players, variant="rbc", fen=fen, reversible_moves=None, max_turns=None
        )
        if guessed["error"] is not None:
            return
        for player in (11, 12):
            seat = {"game_id": guessed["game_id"], "player": player}
            for kind in ("state", "actions"):
                await self._ask(kind, **seat)
        to_move = 11 if board.turn else 12
        await self._ask("sense", to_move, game_id=guessed["game_id"], square=self.rng.choice([None, 27]))
        await self._ask("move", to_move, game_id=guessed["game_id"], move=None)

    async def opponent(self, kind: str, **fields: Any) -> None:
        """Let the opponent ask for all that is its own, and act."""
        for look in ("state", "actions"):
            await self.server.act(look, OPPONENT, **self.seat)
        await self.server.act(kind, OPPONENT, **self.seat, **fields)
        await self.server.act("state", OPPONENT, **self.seat, actions=True)

    async def _ask(self, kind: str, player: int = OBSERVER, **fields: Any) -> Json:
        """Ask as the observer, and record the work."""
        self.server.tracing = True
        reply = await self.server.ask(kind, player, **fields)
        self.server.tracing = False
        self.work.append((kind, self.server.steps))
        return reply
