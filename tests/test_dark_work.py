"""Dark chess: the server runs the same lines for a player whatever is hidden from it, as in ``test_work.py``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import chess
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from gmd.games import dark, position
from tests.dark_twins import STARTS, DarkTwins, draw_dark_twins
from tests.helpers import Json, memory_daemon
from tests.noninterference import quiet
from tests.probing import Server
from tests.proofs import cases
from tests.test_work import Work

OBSERVER, OPPONENT = 1, 2

#: The number of drawn pairs of games in the ordinary run.
PAIRS = 6

#: The observer's requests between moves: none changes anything.
ALL: list[Json] = [
    {"kind": "state"},
    {"kind": "state", "actions": True},
    {"kind": "state", "brief": True},
    {"kind": "actions"},
    {"kind": "wait", "timeout": 0},
    {"kind": "sense", "square": "e4"},
    {"kind": "move", "move": "a1a1"},
    {"kind": "move", "move": "Kd4d8"},
    {"kind": "history"},
]


def _look_for_en_passant() -> None:
    dark.pack_passing = position.pack


def _look_for_a_move() -> None:
    dark.can_move = lambda board: any(board.legal_moves)


def _check_castling_rights() -> None:
    del dark.TrueBoard.clean_castling_rights


def _read_on_the_true_board() -> None:
    dark.seen_board = lambda position, seat: dark._board_of(position)  # type: ignore[assignment]


PLANTS: dict[str, Callable[[], None]] = {
    "looking for en passant": _look_for_en_passant,
    "looking for a move of the opponent": _look_for_a_move,
    "checking the opponent's castling rights": _check_castling_rights,
    "reading moves on the true board": _read_on_the_true_board,
}


def test_server_runs_the_same_lines_in_dark_games_that_look_the_same() -> None:
    requests = 0
    for one, other in in_both(cases(PAIRS)):
        assert one == other
        requests += len(one)
    assert requests > 200


@pytest.mark.parametrize("plant", PLANTS)
def test_work_in_dark_chess_that_depends_on_hidden_state_is_found(plant: str) -> None:
    assert any(one != other for one, other in in_both(PAIRS, plant))


@given(st.randoms(use_true_random=False), st.sampled_from([*STARTS, "KN2k3/PPpP4/P1P5/8/8/8/8/8 b - - 0 1"]))
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


def in_both(pairs: int, plant: str | None = None) -> Iterator[tuple[list[Work], list[Work]]]:
    """Yield the work for the observer in either version of some pairs of games, each version in a fresh process."""
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(2, context, max_tasks_per_child=1) as pool:
        yield from zip(*pool.map(works, (0, 1), (pairs, pairs), (plant, plant)), strict=True)


def works(version: int, pairs: int, plant: str | None) -> list[list[Work]]:
    """Return the work for the observer in one version of some pairs of games."""
    if plant is not None:
        PLANTS[plant]()
    # The clock stands still, so that on a slow machine nothing expires.
    return trio.run(_works, version, pairs, clock=MockClock())


async def _works(version: int, pairs: int) -> list[list[Work]]:
    with quiet():
        async with memory_daemon() as daemon:
            server = Server(daemon)
            await _play(server, draw_dark_twins(random.Random("before")), 0, random.Random(0))  # for one-time work
            works = [await _play(server, twins, version, random.Random(0)) for twins in (_beside(), _king_away())]
            for seed in range(pairs):
                rng = random.Random(seed)
                works.append(await _play(server, draw_dark_twins(rng), version, rng))
            return works


def _beside() -> DarkTwins:
    """Return a pair of games in which White's pawn passes a pawn that it does not see, or does not."""
    twins = DarkTwins("4k3/8/8/8/1p1p4/2N5/4P3/4K3 b - - 0 1", chess.WHITE)
    passing = chess.Move.from_uci("e2e4")
    twins.moves += [(chess.Move.from_uci("b4c3"), chess.Move.from_uci("d4c3")), (passing, passing)]
    return twins


def _king_away() -> DarkTwins:
    """Return a pair of games in which Black's king, unseen, leaves its square, or a pawn moves instead."""
    twins = DarkTwins("r3k2r/8/p7/8/8/7P/8/4K3 b kq - 0 1", chess.WHITE)
    advance, answer = chess.Move.from_uci("h3h4"), chess.Move.from_uci("a6a5")
    twins.moves += [(chess.Move.from_uci("e8e7"), answer), (advance, advance)]
    return twins


async def _play(server: Server, twins: DarkTwins, version: int, rng: random.Random) -> list[Work]:
    """Play one of a pair of games, while the observer makes its requests."""
    color, other = ("white", "black") if twins.observer else ("black", "white")
    players = {f"player_{color}": OBSERVER, f"player_{other}": OPPONENT}
    made = await server.act("new_game", OPPONENT, variant="dark_chess", fen=twins.fen, clock=None, **players)
    seat, work = {"game_id": made["game_id"]}, list[Work]()

    async def ask(kind: str, **fields: object) -> None:
        server.tracing = True
        await server.ask(kind, OBSERVER, **seat, **fields)
        server.tracing = False
        work.append((kind, server.steps))

    turn = chess.Board(twins.fen).turn
    for ply, pair in enumerate(twins.moves):
        for request in rng.sample(ALL, 5):
            await ask(**request)
        if turn == twins.observer:
            await ask("move", move=pair[0].uci(), ply=ply)
            for spelling in ("a1a1", "Kd4d8", pair[0].uci(), f"{pair[0].uci()} "):
                await ask("move", move=spelling, ply=ply)
        else:
            await server.act("state", OPPONENT, **seat, actions=True)
            await server.act("move", OPPONENT, **seat, move=pair[version].uci())
        turn = not turn
    for request in ALL:
        await ask(**request)
    return work
