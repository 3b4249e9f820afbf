"""Nothing hidden shows: in two games that look the same to a player, it gets the same bytes, whatever it asks."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import chess
import pytest
import structlog
from msgspec import structs
from trio.testing import MockClock

from gm_protocol.errors import WrongPhase
from gm_protocol.state import GameState, Phase
from gmd.arbiter import Arbiter
from gmd.games import views
from gmd.games.facts import Facts, facts_of
from gmd.games.game import Outcome, Standing
from gmd.games.rbc import RbcGame, ReconSnapshot
from gmd.shelf import Table
from gmd.spectators import Spectators
from tests.helpers_proof import proof_size
from tests.noninterference import Rooms, Told, play_twins, two_rooms
from tests.twin_games import PASSING_PAWNS, draw_twins

#: Pairs of games played on one pair of daemons, whose listings grow longer with every game.
PAIRS_IN_ROOMS = 250

#: Where in the daemon, which attribute, and what to put there.
Patch = tuple[Any, str, Any]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Log warnings alone: a proof is refused millions of requests, and each is worth a line to whoever debugs."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.configure(**before)


@pytest.mark.proof
async def test_a_player_is_told_the_same_in_games_that_look_the_same(mock_clock: MockClock) -> None:
    pairs = proof_size(40, 10_000)
    different = compared = 0
    for first in range(0, pairs, PAIRS_IN_ROOMS):
        async with two_rooms(mock_clock) as rooms:
            for seed in range(first, min(pairs, first + PAIRS_IN_ROOMS)):
                rng = random.Random(seed)
                twins = draw_twins(rng)
                different += twins.differ
                try:
                    await play_twins(rooms, twins, rng, thorough=seed % 8 == 0)
                except Told as told:
                    told.add_note(f"in the games of seed {seed}")
                    raise
            compared += rooms.compared
    assert different > 0.8 * pairs
    assert compared > 50 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} replies compared")


# --- Each way to tell is found out ----------------------------------------------------------------------------------

_blind_state, _actions, _refuse_turn, _standing = (
    views._blind_state,
    views.actions,
    RbcGame._refuse_turn,
    RbcGame.standing,
)


def showing(**fields: Callable[[RbcGame, ReconSnapshot, GameState], object]) -> Patch:
    """Views in which some fields are made of the truth."""

    def state(game: RbcGame, shown: ReconSnapshot, *others: Any, **options: Any) -> GameState:
        blind = _blind_state(game, shown, *others, **options)
        return structs.replace(blind, **{name: truth(game, shown, blind) for name, truth in fields.items()})

    return views, "_blind_state", state


def facts(shown: ReconSnapshot) -> Facts:
    return facts_of(shown.position)


def phase_first(game: RbcGame, command: Any, thought: float, phase: Phase) -> Outcome | None:
    """The order of checks in which the phase comes before the turn."""
    wrong = not game.over and game.now.phase != phase
    return Outcome(refusal=WrongPhase("it is another phase")) if wrong else _refuse_turn(game, command, thought, phase)


def interrupt_all(arbiter: Arbiter, table: Table) -> None:
    """A sense is durable, and everybody who waits hears of it."""
    for bell in arbiter.watchers._by_game.get(table.game.id, ()):
        bell.interrupt()


def possible_first(game: RbcGame, viewer: views.Viewer) -> views.Actions:
    """The moves to ask for in an order that says which of them the true board allows."""
    sense, moves = _actions(game, viewer)
    legal = {move.uci() for move in chess.Board(game.recon.board.fen()).pseudo_legal_moves}
    return views.Actions(sense, moves and sorted(moves, key=lambda move: move not in legal))


def one_more_when_sensed(game: RbcGame) -> Standing:
    """A listing in which a sense counts as half a turn."""
    standing = _standing(game)
    return structs.replace(standing, ply_index=standing.ply_index + (game.now.phase == "move"))


LEAKS: dict[str, Patch] = {
    "the half-move clock": showing(fen=lambda _, shown, blind: blind.fen.replace("- 0", f"- {shown.halfmoves}")),
    "castling rights": showing(available_castles=lambda _, shown, blind: facts(shown).castles),
    "castling rights in the FEN": showing(fen=lambda _, shown, blind: facts(shown).fen_stem.split()[2]),
    "en passant": showing(passant_file=lambda _, shown, blind: facts(shown).passant_file),
    "en passant in the FEN": showing(fen=lambda _, shown, blind: facts(shown).fen_stem.split()[3]),
    "the order of errors": (RbcGame, "_refuse_turn", phase_first),
    "the size of a reply": showing(fen=lambda _, shown, blind: blind.fen + " " * len(facts(shown).fen_stem)),
    "the listing of games": (RbcGame, "standing", one_more_when_sensed),
    "check": showing(in_check=lambda _, shown, blind: facts(shown).check),
    "draws": showing(draws=lambda _, shown, blind: int(shown.halfmoves >= 4)),
    "the last move": showing(last_move=lambda _, shown, blind: shown.last_move),
    "where a capture ended": showing(
        opponent_capture=lambda _, shown, blind: blind.opponent_capture and (shown.last_move or "")[2:]
    ),
    "the phase off turn": showing(phase=lambda _, shown, blind: shown.phase),
    "the movetext": showing(pgn=lambda game, shown, blind: game.movetext),
    "the access map": showing(access_map=lambda _, shown, blind: facts(shown).access_map),
    "the order of moves": (views, "actions", possible_first),
    "a wait that ends at a sense": (Arbiter, "_sense_durable", interrupt_all),
    "a history before the end": (views, "history", lambda game: views.History(game.movetext, game.taken_moves)),
    "everything, to nobody": (Spectators, "may_oversee", lambda spectators, key: True),
}


@pytest.mark.parametrize("leak", LEAKS)
async def test_it_is_found_out_where_something_shows(
    leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*LEAKS[leak])
    async with two_rooms(mock_clock) as rooms:
        assert await is_told(rooms, pairs=100)


async def is_told(rooms: Rooms, pairs: int) -> bool:
    """Whether some pair of games can be told apart."""
    for seed in range(pairs):
        rng = random.Random(seed)
        try:
            await play_twins(rooms, draw_twins(rng, [PASSING_PAWNS]), rng, thorough=False)
        except Told:
            return True
    return False
