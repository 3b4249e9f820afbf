"""The server runs the same lines for a player whatever is hidden from it, so that no clock could reveal it.

Pairs of games that look the same to the player are played, each game of a pair in its own new process, and the lines
are compared one by one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import chess
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gmd.games import dark, position
from tests.helpers import Json, memory_daemon
from tests.proofs import cases
from tests.secrecy.leaks import LEAKS
from tests.secrecy.noninterference import quiet
from tests.secrecy.probing import Server
from tests.secrecy.timing import RANKS, SCENES
from tests.secrecy.twins import STARTS, Action, OthersTurn, OwnTurn, Twins, draw_twins

OBSERVER, OPPONENT = 1, 2

#: The most positions kept for a belief: tracing them all would take minutes.
MOST_POSITIONS = 12

#: The number of drawn pairs of games in the ordinary run, and of those in which each planted leak shows.
PAIRS, TELLING_PAIRS = 3, 2

#: The observer's requests between actions: none changes anything.
ALL: list[Json] = [
    {"kind": "state"},
    {"kind": "state", "actions": True},
    {"kind": "state", "brief": True},
    {"kind": "actions"},
    {"kind": "belief", "samples": 2, "hint": True},
    {"kind": "wait", "timeout": 0},
    {"kind": "sense", "square": "z9"},
    {"kind": "move", "move": "a1a1"},
    {"kind": "move", "move": "Kd4d8"},
    {"kind": "history"},
]

#: A request of the observer's, and the lines that ran to answer it.
Work = tuple[str, list[str]]

PLANTED = [(leak, planted.variants[0]) for leak, planted in LEAKS.items() if "lines" in planted.found_in]


@pytest.mark.parametrize("variant", ["rbc", pytest.param("dark_chess", marks=pytest.mark.slow)])
def test_server_runs_the_same_lines_in_games_that_look_the_same(variant: str) -> None:
    requests = 0
    for one, other in in_both(variant, cases(PAIRS)):
        assert one == other
        requests += len(one)
    assert requests > 150


@pytest.mark.slow
@pytest.mark.parametrize(("leak", "variant"), PLANTED)
def test_work_that_depends_on_hidden_state_is_found(leak: str, variant: str) -> None:
    assert any(one != other for one, other in in_both(variant, TELLING_PAIRS, leak))


async def test_opponents_sense_changes_no_line(mock_clock: MockClock) -> None:
    async with memory_daemon() as daemon:
        daemon.arbiter.cpu_queue.slice_seconds = 0.0
        table = _Table(Server(daemon), Twins("rbc", chess.STARTING_FEN, chess.BLACK), 0, random.Random("sense"))
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


@pytest.mark.slow
@given(
    st.randoms(use_true_random=False),
    st.sampled_from([*STARTS["dark_chess"], "KN2k3/PPpP4/P1P5/8/8/8/8/8 b - - 0 1"]),
)
def test_steps_that_do_not_search_find_what_a_search_finds(rng: random.Random, fen: str) -> None:
    board = dark.DarkBoard(fen)
    for _ in range(rng.randint(0, 40)):
        moves = list(board.legal_moves)
        assert dark.can_move(board) == bool(moves)
        if not moves:
            break
        board.push(rng.choice(moves))
        assert dark.pack_passing(board.copy()) == position.pack(board.copy())
        if board.is_variant_end():
            break
        seen = dark.seen_board(dark.pack_passing(board.copy()), board.turn)
        assert list(seen.legal_moves) == list(board.legal_moves)


@pytest.mark.parametrize(
    "fen",
    ["8/8/8/8/8/p7/P7/8 w - - 0 1", "8/8/8/1pP5/1P6/8/8/8 w - b6 0 1", "8/8/8/8/8/PP6/NP6/BN6 w - - 0 1"],
)
def test_blocked_pieces_have_no_move(fen: str) -> None:
    board = chess.Board(fen)
    assert dark.can_move(board) == any(board.pseudo_legal_moves)


def in_both(variant: str, pairs: int, leak: str | None = None) -> Iterator[tuple[list[Work], list[Work]]]:
    """Yield the work for the observer in either version of some pairs of games, each version in a fresh process."""
    context = get_context("forkserver")  # a new process for each, but what they import is loaded once
    context.set_forkserver_preload([__name__])
    jobs = [(variant, version, pairs, leak) for version in (0, 1)]
    with ProcessPoolExecutor(2, context, max_tasks_per_child=1) as pool:
        yield from zip(*pool.map(works, *zip(*jobs, strict=True)), strict=True)


def works(variant: str, version: int, pairs: int, leak: str | None) -> list[list[Work]]:
    """Return the work for the observer in one version of some pairs of games."""
    if leak is not None:
        setattr(*LEAKS[leak].patch)
    # The clock stands still: on a slow machine beliefs would reach the 120 seconds after which they lose their place.
    return trio.run(_works, variant, version, pairs, clock=MockClock())


async def _works(variant: str, version: int, pairs: int) -> list[list[Work]]:
    with quiet():
        async with memory_daemon() as daemon:
            daemon.services.beliefs.cap = MOST_POSITIONS
            daemon.arbiter.cpu_queue.slice_seconds = 0.0  # so that no clock says where long work is interrupted
            server = Server(daemon)
            first = draw_twins(random.Random("before"), variant=variant)
            await _Table(server, first, 0, random.Random(0)).play()  # for one-time work
            works = [await _Table(server, twins, version, random.Random(0)).play() for twins in TELLING[variant]]
            for seed in range(pairs):
                rng = random.Random(seed)
                works.append(await _Table(server, draw_twins(rng, variant=variant), version, rng).play())
            return works


def _told(variant: str, fen: str, others: tuple[str | None, str | None], own: str) -> Twins:
    """Return a pair of games of two turns: Black's move in either, None for a pass, and the observer's."""
    one, other = (None if move is None else chess.Move.from_uci(move) for move in others)
    move = chess.Move.from_uci(own)
    twins = Twins(variant, fen, chess.WHITE, {"clock": None})
    twins.turns += [
        OthersTurn((Action(None, one), Action(None, other))),
        OwnTurn(Action(None, move), [], forbidden=move),
    ]
    for board, first in zip(twins.boards, (one, other), strict=True):
        board.set_fen(fen)
        board.push(first or chess.Move.null())
        board.push(move)
    return twins


#: Pairs of few turns in which much is hidden: in blind chess a pawn of the observer's passes one of its opponent's; in
#: Dark chess also a king is shut in.
TELLING = {
    "rbc": [_told("rbc", "4k3/8/8/3p4/8/8/4P3/4K3 b - - 0 1", ("d5d4", None), "e2e4")],
    "dark_chess": [
        *(_told("dark_chess", scene.fen.format(RANKS[0]), scene.moves, scene.answer) for scene in SCENES.values()),
        _told("dark_chess", "6rk/p5pp/8/8/8/8/4P3/4K3 b - - 0 1", ("g7g6", "a7a6"), "e2e3"),
    ],
}


class _Table:
    """One of a pair of games in progress."""

    def __init__(self, server: Server, twins: Twins, version: int, rng: random.Random) -> None:
        self.server, self.twins, self.version, self.rng = server, twins, version, rng
        self.color = "white" if twins.observer else "black"
        self.is_blind = twins.variant == "rbc"
        self.work: list[Work] = []
        self.seat: Json = {}

    async def begin(self) -> None:
        """Make the game."""
        players = {self.color: OBSERVER, "black" if self.twins.observer else "white": OPPONENT}
        made = await self.server.act(
            "new_game",
            **{f"player_{color}": player for color, player in players.items()},
            variant=self.twins.variant,
            fen=self.twins.fen,
            **self.twins.options,
        )
        self.seat = {"game_id": made["game_id"]}

    async def play(self) -> list[Work]:
        """Play it turn by turn, while the observer makes its requests; then play games from the possible positions."""
        await self.begin()
        for ply, turn in enumerate(self.twins.turns):
            await self._look()
            if isinstance(turn, OwnTurn):
                await self._take_turn(turn.action, ply)
            else:
                await self._watch_turn(turn.actions[self.version])
        await self._look()
        for board in self.twins.boards if self.is_blind else ():
            await self._guess(board)
        return self.work

    async def _take_turn(self, action: Action, ply: int) -> None:
        if self.is_blind:
            await self._ask("sense", **self.seat, square=action.sense)
            await self._look()
        move = _uci(action.move)
        await self._ask("move", **self.seat, move=move, ply=ply)
        for again in ("a1a1", "Kd4d8", move, f"{move} "):
            await self._ask("move", **self.seat, move=again, ply=ply)

    async def _watch_turn(self, action: Action) -> None:
        if self.is_blind:
            await self.opponent("sense", square=action.sense)
            await self._look()
        await self.opponent("move", move=_uci(action.move))

    async def _look(self) -> None:
        """Make some of the requests, the same in either version."""
        await self.look(self.rng.sample(ALL, 4))

    async def look(self, requests: list[Json]) -> None:
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


def _uci(move: chess.Move | None) -> str | None:
    return None if move is None else move.uci()
