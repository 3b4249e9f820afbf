"""The daemon's game of reconnaissance blind chess: its decisions, its state, and its answers to retries."""

from __future__ import annotations

from typing import Any

import chess
import msgspec
import pytest
from chess import BLACK, WHITE, Move

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadRequest
from gm_protocol.messages import ClockOption, NewGame
from gm_recon import WinReason
from gmd.games.commands import Command, End, FirstContact, Play, Sense
from gmd.games.events import FORMER_MAX_PLIES, Created, Ended, Loaded, Moved, Sensed
from gmd.games.game import Decision
from gmd.games.rbc import PASS, MoveMade, RbcGame
from gmd.games.variants import resolve
from tests.side_by_side import POSITIONS


def new_game(**fields: Any) -> RbcGame:
    """Return a game, without a clock by default."""
    request = NewGame(player_white=1, player_black=2, variant="rbc", **{"clock": None, **fields})
    return RbcGame(Created(1, 2, resolve(request, {}, 0, strict=True), "2026-11-21T04:41:00Z"))


def happen(game: RbcGame, command: Command, thought: float = 0.0) -> Decision:
    decision = game.decide(command, thought)
    for event in decision.events:
        game.apply(event)
    return decision


def play(game: RbcGame, *turns: str) -> None:
    """Play turns that sense nothing."""
    for text in turns:
        for command in (Sense(game.turn, None), Play(game.turn, text)):
            assert happen(game, command).refusal is None


def refusal(game: RbcGame, command: Command, thought: float = 0.0) -> tuple[str, str]:
    """Return the code and text of a refusal, which must change nothing."""
    before = game.now
    decision = game.decide(command, thought)
    assert game.now is before
    assert decision.refusal is not None
    assert decision.shown is None
    return decision.refusal.code, str(decision.refusal)


# --- A turn -----------------------------------------------------------------------------------------------------


def test_turn_is_a_sense_and_a_move() -> None:
    game = new_game()
    assert (game.now.phase, game.turn, game.now.ply) == ("sense", WHITE, 0)
    assert happen(game, Sense(WHITE, "e7")).events == [Sensed(chess.E7)]
    assert (game.now.phase, game.turn, game.now.ply) == ("move", WHITE, 0)
    sensed = game.now.senses[WHITE]
    assert sensed is not None
    assert (sensed.ply, sensed.square, len(sensed.result)) == (0, chess.E7, 9)
    assert sensed.result[0] == (chess.D8, chess.Piece.from_symbol("q"))
    assert happen(game, Play(WHITE, "e2e4")).events == [Moved("e2e4")]
    assert (game.now.phase, game.turn, game.now.ply) == ("sense", BLACK, 1)
    move = Move.from_uci("e2e4")
    assert game.now.results == (None, MoveMade(0, move, move, None))
    assert (game.now.last_move, game.now.senses[WHITE]) == ("e2e4", sensed)


def test_square_may_be_a_name_or_a_number() -> None:
    for square, number in (("a1", 0), ("h8", 63), (0, 0), (63, 63), (None, None)):
        assert new_game().decide(Sense(WHITE, square), 0.0).events == [Sensed(number)]
    for wrong in ("z9", "", "E7", "e77", 64, -1, 2**53):
        words = f"square: {wrong!r} is no square: give a name (e4), a number (0 to 63) or null"
        assert refusal(new_game(), Sense(WHITE, wrong)) == ("bad_square", words)


def test_text_that_is_no_move_action_is_refused() -> None:
    game = new_game()
    happen(game, Sense(WHITE, None))
    for text in ("e2e5", "e7e5", "e4", "Nf3", "--", "", "e2e4q", "e1g1", "N@e4", "O-O", "e2" * 1000):
        code, words = refusal(game, Play(WHITE, text))
        assert (code, words[:7], len(words) < 200) == ("illegal_move", "move: '", True)
        assert words.endswith(" is not among white's move_actions (UCI, or null)")


# --- Refusals ---------------------------------------------------------------------------------------------------


def test_refusals_reveal_nothing_hidden() -> None:
    seen, other = new_game(), new_game()
    play(seen, "e2e4", "e7e5")
    play(other, "e2e4", "g8h6")
    for game in (seen, other):
        happen(game, Sense(WHITE, "a1"))
    for command in (
        Sense(WHITE, "e4"),
        Play(WHITE, "e4e6"),
        Play(WHITE, "e7e5"),
        Play(BLACK, "e7e5"),
        Sense(BLACK, None),
        Play(WHITE, "e4e5", ply=1),
    ):
        assert refusal(seen, command) == refusal(other, command)


def test_draws_cannot_be_taken_or_agreed() -> None:
    for command in (End(WHITE, Cause.DRAW_CLAIM), End(BLACK, Cause.DRAW_CLAIM), End(WHITE, Cause.AGREEMENT)):
        code, words = refusal(new_game(), command)
        assert (code, words.partition("': ")[2]) == ("not_available", "rbc has no draws to take or to agree on")


# --- Endings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [WHITE, BLACK])
def test_either_side_can_resign_on_and_off_turn(seat: bool) -> None:
    game = new_game()
    happen(game, Sense(WHITE, "e4"))
    happen(game, End(seat, Cause.RESIGNATION))
    assert game.now.ending == Ending(Cause.RESIGNATION, winner=not seat)
    assert (game.over, game.recon.winner) == (True, not seat)


def test_limits_draw_the_game() -> None:
    game = new_game(reversible_moves=3)
    play(game, PASS, PASS, PASS)
    assert game.now.ending == Ending(Cause.FIFTY_MOVES)
    game = new_game(max_turns=2)
    play(game, PASS, PASS, PASS, PASS)
    assert game.now.ending == Ending(Cause.TURN_LIMIT)
    game = new_game(fen="4k3/8/8/8/8/8/8/4K3 b - - 5 9", reversible_moves=5)
    assert (game.over, game.now.ending) == (True, Ending(Cause.FIFTY_MOVES))


@pytest.mark.slow
def test_game_created_without_a_length_limit_is_drawn_after_12000_plies() -> None:
    game = new_game(reversible_moves=None)
    for _ in range(FORMER_MAX_PLIES - 1):
        game.apply(Sensed(None))
        game.apply(Moved(PASS))
    assert not game.over
    play(game, PASS)
    assert (game.now.ply, game.now.ending) == (FORMER_MAX_PLIES, Ending(Cause.MOVE_LIMIT))
    assert game.recon.win_reason == WinReason.TURN_LIMIT


# --- Clocks -----------------------------------------------------------------------------------------------------


def ticking_game() -> RbcGame:
    game = new_game(clock=ClockOption(initial=10.0, increment=2.0))
    for seat in (WHITE, BLACK):
        happen(game, FirstContact(seat))
    assert game.ticking
    return game


def test_flag_can_fall_before_the_sense_and_before_the_move() -> None:
    game = ticking_game()
    decision = game.decide(Sense(WHITE, "e4"), 10.0)
    assert decision.events == [Ended("timeout_white", 10.0)]
    assert decision.refusal is not None
    assert str(decision.refusal) == "game 0 is over: timeout_white"
    happen(game, Sense(WHITE, "e4"), 9.0)
    decision = happen(game, Play(WHITE, "e2e4"), 1.0)
    assert decision.events == [Ended("timeout_white", 1.0)]
    assert (game.over, game.now.phase, game.recon.winner) == (True, "over", BLACK)
    assert game.recon.win_reason == WinReason.TIMEOUT


def test_retry_after_flag_fall_ends_the_game() -> None:
    game = ticking_game()
    happen(game, Sense(WHITE, "e4", ply=0), 1.0)
    then = game.now
    assert game.decide(Sense(WHITE, "e4", ply=0), 9.0) == Decision([Ended("timeout_white", 9.0)], shown=then)


# --- Options ----------------------------------------------------------------------------------------------------


def test_options_have_their_defaults() -> None:
    request = NewGame(player_white=1, player_black=2, variant="rbc")
    assert msgspec.to_builtins(resolve(request, {}, 0, strict=True)) == {
        "variant": "rbc",
        "fen": chess.STARTING_FEN,
        "clock": {"initial": 900.0, "increment": 5.0},
        "reversible_moves": 100,
        "max_turns": None,
    }


@pytest.mark.parametrize(
    ("variant", "field", "value"),
    [
        *(
            ("rbc", *each)
            for each in (("draws", "claimed"), ("max_moves", 10), ("illegal_move", "refuse"), ("seed", 3))
        ),
        *((variant, "max_turns", 10) for variant in ("standard", "chess960", "crazyhouse")),
        ("standard", "reversible_moves", 100),
    ],
)
def test_options_of_another_variant_are_refused(variant: Any, field: str, value: Any) -> None:
    request = NewGame(player_white=1, player_black=2, variant=variant, **{field: value})
    with pytest.raises(BadRequest, match=f"{field}: .* does not apply to {variant}"):
        resolve(request, {}, 0, strict=True)
    if variant != "rbc":
        assert resolve(request, {}, 0, strict=False).variant == variant


def test_game_starts_from_any_position() -> None:
    for fen in POSITIONS.values():
        game = new_game(fen=fen, reversible_moves=None)
        assert game.options.fen == game.recon.board.fen() == fen
        assert game.fullmove_at(0) == game.recon.board.fullmoves


def test_events_of_other_games_cannot_be_applied() -> None:
    game = new_game()
    for event in (game.created, Loaded(["e4"])):
        with pytest.raises(ValueError, match="can happen to it"):
            game.apply(event)
