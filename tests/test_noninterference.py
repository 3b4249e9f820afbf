"""Blind chess shows nothing hidden: in two games that look the same to a player, the player gets the same bytes,
whatever it asks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import chess
import pytest
from msgspec import UNSET, UnsetType, structs
from trio.testing import MockClock

from gm_protocol.errors import WrongPhase
from gm_protocol.state import Color, GameState, Phase
from gmd.arbiter import Arbiter
from gmd.games import views
from gmd.games.facts import Facts, facts_of
from gmd.games.game import Decision, Game, GameSummary
from gmd.games.knowledge import Actions
from gmd.games.rbc import RbcGame, ReconSnapshot
from gmd.handlers import wait
from gmd.live_games import LiveGame
from gmd.players.authenticator import Authenticator
from gmd.requests import games, seated
from gmd.requests.context import RequestContext
from gmd.spectators import Spectators
from gmd.turns import Turns
from tests.noninterference import play_pairs, play_twins, quiet
from tests.paired_daemons import Distinguished, PairedDaemons, paired_daemons
from tests.planted_belief import observed_with_whole_board
from tests.proofs import cases, in_processes
from tests.twin_games import PASSING_PAWNS, draw_twins

#: The pairs of games played on one pair of daemons, whose listings grow with every game.
PAIRS_PER_DAEMONS = 250

#: The place in the daemon, its attribute, and the attribute's replacement.
Patch = tuple[Any, str, Any]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with quiet():
        yield


def test_player_gets_same_bytes_in_games_that_look_the_same() -> None:
    pairs = cases(20)
    jobs = [(first, min(PAIRS_PER_DAEMONS, pairs - first)) for first in range(0, pairs, PAIRS_PER_DAEMONS)]
    counts = list(in_processes(play_pairs, jobs))
    played, different, compared = map(sum, zip(*counts, strict=True))
    assert played == pairs
    assert different > 0.8 * pairs
    assert compared > 50 * pairs
    print(f"{pairs} pairs, {different} of them of different positions in the end, {compared} replies compared")


# --- Each leak is found ----------------------------------------------------------------------------------------------

_blind_state, _actions, _refuse_turn, _summary, _update, _viewer_of = (
    views._blind_state,
    views.actions,
    RbcGame._refuse_turn,
    RbcGame.summary,
    Turns.update,
    games.viewer_of,
)


def showing(**fields: Callable[[RbcGame, ReconSnapshot, GameState], object]) -> Patch:
    """Return a patch of the views in which some fields show the truth."""

    def state(game: RbcGame, shown: ReconSnapshot, *others: Any, **options: Any) -> GameState:
        blind = _blind_state(game, shown, *others, **options)
        return structs.replace(blind, **{name: truth(game, shown, blind) for name, truth in fields.items()})

    return views, "_blind_state", state


def facts(shown: ReconSnapshot) -> Facts:
    return facts_of(shown.position)


def phase_first(game: RbcGame, command: Any, elapsed: float, phase: Phase) -> Decision | None:
    """Check the phase before the turn."""
    wrong = not game.over and game.now.phase != phase
    return Decision(refusal=WrongPhase("it is another phase")) if wrong else _refuse_turn(game, command, elapsed, phase)


def interrupt_all(arbiter: Arbiter, live: LiveGame) -> None:
    """Notify every waiter when a sense is durable."""
    for crowds in (arbiter.watchers._by_game, arbiter.watchers._spectators):
        if live.game.id in crowds:
            for subscription in crowds[live.game.id].subscriptions:
                subscription.interrupt()


def possible_first(game: RbcGame, viewer: views.Viewer) -> Actions:
    """Return the moves that may be requested, with those first that the true board allows."""
    sense, moves = _actions(game, viewer)
    legal = {move.uci() for move in chess.Board(game.recon.board.fen()).pseudo_legal_moves}
    return Actions(sense, moves and sorted(moves, key=lambda move: move not in legal))


def one_more_when_sensed(game: RbcGame) -> GameSummary:
    """Return a listing in which a sense counts as half a turn."""
    summary = _summary(game)
    return structs.replace(summary, ply_index=summary.ply_index + (game.now.phase == "move"))


def limited(value: int | UnsetType | None, default: int | None = None) -> bool:
    """Return whether a limit was given that is not the default."""
    return value is not UNSET and value is not None and value != default


def near_the_limit(game: RbcGame, shown: ReconSnapshot, blind: GameState) -> int:
    """Return the draw that two more turns would make."""
    limit = game.options.reversible_moves
    return int(isinstance(limit, int) and shown.halfmoves + 2 >= limit)


def turns_in_which_something_moved(game: RbcGame, shown: ReconSnapshot, blind: GameState) -> str:
    """Return a FEN whose move number skips the turns in which nothing moved, where turns are limited."""
    made = sum(turn.taken is not None for turn in game.recon.turns[: shown.ply])
    number = game.fullmove_at(made) if limited(game.options.max_turns) else game.fullmove_at(shown.ply)
    return f"{blind.fen.rpartition(' ')[0]} {number}"


def one_more_where_a_seat_was_open(game: RbcGame) -> GameSummary:
    """Return the same for games that began with an open seat alone."""
    return one_more_when_sensed(game) if game._kept_seats else _summary(game)


def check_first(turns: Turns, game: Game) -> None:
    """Order the games that wait for a player so that those where it is in check come first."""
    _update(turns, game)
    known = turns._players.get(game.players[game.turn] or 0)
    if known is not None and game.id in known.due and facts_of(game.now.position).check:
        known.due = {game.id: None, **known.due}


def everything_without_a_seat(
    game: Game, named: Color | None, context: RequestContext, both: views.Viewer
) -> views.Viewer:
    """Return a ``wait``'s viewer that sees everything if its player names no seat."""
    return views.Viewer.OVERSEER if named is None and context.player else _viewer_of(game, named, context, both)


LEAKS: dict[str, Patch] = {
    "the half-move clock": showing(fen=lambda _, shown, blind: blind.fen.replace("- 0", f"- {shown.halfmoves}")),
    "castling rights": showing(available_castles=lambda _, shown, blind: facts(shown).castles),
    "castling rights in the FEN": showing(fen=lambda _, shown, blind: facts(shown).fen_stem.split()[2]),
    "en passant": showing(passant_file=lambda _, shown, blind: facts(shown).passant_file),
    "en passant in the FEN": showing(fen=lambda _, shown, blind: facts(shown).fen_stem.split()[3]),
    "the order of errors": (RbcGame, "_refuse_turn", phase_first),
    "the size of a reply": showing(fen=lambda _, shown, blind: blind.fen + " " * len(facts(shown).fen_stem)),
    "the listing of games": (RbcGame, "summary", one_more_when_sensed),
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
    "a history before the end": (views, "check_history", lambda game: None),
    "everything, to nobody": (Spectators, "may_oversee", lambda spectators, key: True),
    "that a limit of half-moves is near": showing(draws=near_the_limit),
    "the half-move clock, where it has another limit": showing(
        fen=lambda game, shown, blind: (
            blind.fen.replace("- 0", f"- {shown.halfmoves}")
            if limited(game.options.reversible_moves, 100)
            else blind.fen
        )
    ),
    "the moves made, where turns are limited": showing(fen=turns_in_which_something_moved),
    "check, where turns are limited": showing(
        in_check=lambda game, shown, blind: limited(game.options.max_turns) and facts(shown).check
    ),
    "the position, where a seat was open": showing(
        access_map=lambda game, shown, blind: facts(shown).access_map if game._kept_seats else blind.access_map
    ),
    "everything, to who joins again": (seated, "viewer_of", lambda *args, **options: views.Viewer.OVERSEER),
    "the listing of games that were open": (RbcGame, "summary", one_more_where_a_seat_was_open),
    "the order of games": (Turns, "update", check_first),
    "everything, to who waits and names no seat": (wait, "viewer_of", everything_without_a_seat),
    "the position, to who asks for a belief": (views, "observed_in_play", observed_with_whole_board),
    "everything, to whoever is registered": (Authenticator, "admit", lambda *args: None),
}


#: The seeds of pairs of games in which a leak shows. They come first, then all others; without an entry, 0 is as good.
SOON = {
    "the half-move clock": 1,
    "castling rights": 1,
    "castling rights in the FEN": 1,
    "the size of a reply": 1,
    "the listing of games": 2,
    "check": 5,
    "draws": 7,
    "where a capture ended": 4,
    "a wait that ends at a sense": 1,
    "that a limit of half-moves is near": 25,
    "the half-move clock, where it has another limit": 7,
    "the moves made, where turns are limited": 6,
    "check, where turns are limited": 10,
    "the listing of games that were open": 2,
    "the order of games": 5,
    "the position, to who asks for a belief": 2,
    "everything, to whoever is registered": 1,
}


@pytest.mark.parametrize("leak", LEAKS)
async def test_planted_leak_is_found(leak: str, mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*LEAKS[leak])
    async with paired_daemons(mock_clock) as daemons:
        assert await is_distinguished(daemons, pairs=100, first=SOON.get(leak, 0))


async def is_distinguished(daemons: PairedDaemons, pairs: int, first: int) -> bool:
    """Return whether some pair of games can be told apart; every fourth pair is without limits, the others play two at
    once with some.

    :param first: the seed of the pair that is tried first.
    """
    for seed in sorted(range(pairs), key=lambda seed: seed != first):
        rng = random.Random(seed)
        limited = seed % 4 > 0
        games = [draw_twins(rng, [PASSING_PAWNS], limited=limited) for _ in range(1 + limited)]
        try:
            await play_twins(daemons, games, rng, thorough=False)
        except Distinguished:
            return True
    return False
