"""The daemon's game of reconnaissance blind chess: its decisions, its state, and its answers to retries."""

from __future__ import annotations

import random
from typing import Any

import chess
import msgspec
import pytest
from chess import BLACK, WHITE, Move
from hypothesis import given
from hypothesis import strategies as st

from gm_protocol.endings import Cause, Ending
from gm_protocol.errors import BadPosition, BadRequest, GmError
from gm_protocol.messages import ClockOption, NewGame
from gm_recon import WinReason
from gmd.games.commands import Absent, Command, End, FirstContact, Flag, Play, Sense
from gmd.games.events import FORMER_MAX_PLIES, AnyEvent, Created, Ended, FirstContactMade, Loaded, Moved, Sensed
from gmd.games.game import Decision
from gmd.games.position import pack, settled, unpack
from gmd.games.rbc import PASS, MoveMade, RbcGame
from gmd.games.setup import resolve
from gmd.games.variants import make_game
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


@pytest.mark.parametrize(("square", "number"), [("a1", 0), ("h8", 63), (0, 0), (63, 63), (None, None)])
def test_square_may_be_a_name_or_a_number(square: str | int | None, number: int | None) -> None:
    assert new_game().decide(Sense(WHITE, square), 0.0).events == [Sensed(number)]


@pytest.mark.parametrize("square", ["z9", "", "E7", "e77", "e", 64, -1, 2**53])
def test_invalid_square_is_refused(square: str | int) -> None:
    code, words = refusal(new_game(), Sense(WHITE, square))
    assert code == "bad_square"
    assert words == f"square: {square!r} is no square: give a name (e4), a number (0 to 63) or null"


def test_pass_is_the_null_move() -> None:
    game = new_game()
    play(game, PASS)
    assert game.now.results[WHITE] == MoveMade(0, None, None, None)
    assert (game.now.last_move, game.now.halfmoves, game.moves) == (None, 1, [PASS])


@pytest.mark.parametrize("text", ["e2e5", "e7e5", "e4", "Nf3", "--", "", "e2e4q", "e1g1", "N@e4", "O-O", "e2" * 1000])
def test_text_that_is_no_move_action_is_refused(text: str) -> None:
    game = new_game()
    happen(game, Sense(WHITE, None))
    code, words = refusal(game, Play(WHITE, text))
    assert code == "illegal_move"
    assert words.startswith("move: '")
    assert words.endswith(" is not among white's move_actions (UCI, or null)")
    assert len(words) < 200


def test_move_refused_by_the_true_board_uses_the_turn() -> None:
    game = new_game()
    play(game, "e2d3")
    assert game.now.results[WHITE] == MoveMade(0, Move.from_uci("e2d3"), None, None)
    assert (game.turn, game.moves) == (BLACK, [PASS])


def test_capture_is_shown_to_the_opponent_until_the_next_turn_of_the_captor() -> None:
    game = new_game()
    play(game, "e2e4", "d7d5", "e4d5")
    assert game.now.opponent_capture(BLACK) == chess.D5
    assert game.now.opponent_capture(WHITE) is None
    play(game, "d8d5")
    assert game.now.opponent_capture(BLACK) == chess.D5  # its own move does not change it
    assert game.now.opponent_capture(WHITE) == chess.D5
    play(game, PASS)
    assert game.now.opponent_capture(BLACK) is None


# --- Refusals ---------------------------------------------------------------------------------------------------


def test_actions_in_the_wrong_phase_are_refused() -> None:
    game = new_game()
    assert refusal(game, Play(WHITE, "e2e4"))[0] == "wrong_phase"
    happen(game, Sense(WHITE, None))
    assert refusal(game, Sense(WHITE, "e4"))[0] == "wrong_phase"
    happen(game, Play(WHITE, "e2e4"))
    assert refusal(game, Play(BLACK, "e7e5"))[0] == "wrong_phase"


def test_refusals_are_checked_in_order() -> None:
    game = new_game()
    # Each command is wrong in every respect except those corrected in the one before.
    wrong: list[tuple[Command, str]] = [
        (Sense(BLACK, "z9", ply=7), "stale"),
        (Sense(BLACK, "z9", ply=0), "not_your_turn"),
        (Play(BLACK, "nonsense", ply=0, offer_draw=True), "not_your_turn"),
        (Play(WHITE, "nonsense", ply=0, offer_draw=True), "wrong_phase"),
        (Sense(WHITE, "z9", ply=0), "bad_square"),
    ]
    assert [refusal(game, command)[0] for command, _ in wrong] == [code for _, code in wrong]
    happen(game, Sense(WHITE, None))
    assert refusal(game, Sense(WHITE, "z9", ply=0))[0] == "wrong_phase"
    assert refusal(game, Play(WHITE, "nonsense", offer_draw=True))[0] == "not_available"
    assert refusal(game, Play(WHITE, "nonsense"))[0] == "illegal_move"
    happen(game, End(WHITE, Cause.RESIGNATION))
    for command in (Sense(BLACK, "z9", ply=7), Play(BLACK, "", ply=7), End(BLACK, Cause.AGREEMENT, ply=7)):
        assert refusal(game, command) == ("game_over", "game 0 is over: resignation_white")


@pytest.mark.parametrize(
    ("command", "termination"),
    [
        (End(WHITE, Cause.DRAW_CLAIM), "taken_draw_white"),
        (End(BLACK, Cause.DRAW_CLAIM), "taken_draw_black"),
        (End(WHITE, Cause.AGREEMENT), "draw_agreed"),
    ],
)
def test_draws_cannot_be_taken_or_agreed(command: End, termination: str) -> None:
    code, words = refusal(new_game(), command)
    assert (code, words) == (
        "not_available",
        f"termination: {termination!r}: rbc has no draws to take or to agree on",
    )


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


def test_sense_is_refused_in_chess() -> None:
    game = make_game(Created(1, 2, resolve(NewGame(player_white=1, player_black=2), {}, 0, strict=True), ""))
    decision = game.decide(Sense(WHITE, "e4"), 0.0)
    assert decision.refusal is not None
    assert decision.refusal.code == "not_available"
    assert str(decision.refusal) == "kind: sense is for rbc only; in standard everything is shown"


# --- Endings ----------------------------------------------------------------------------------------------------


def test_king_capture_wins_the_game() -> None:
    game = new_game()
    play(game, "e2e4", "f7f6", "d1h5", PASS, "h5e8")
    assert (game.over, game.now.phase, game.now.ending) == (True, "over", Ending(Cause.KING_CAPTURE, winner=WHITE))
    assert game.recon.win_reason == WinReason.KING_CAPTURE


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


def test_game_created_without_a_length_limit_is_drawn_after_12000_plies() -> None:
    game = new_game(reversible_moves=None)
    for _ in range(FORMER_MAX_PLIES - 1):
        game.apply(Sensed(None))
        game.apply(Moved(PASS))
    assert not game.over
    play(game, PASS)
    assert (game.now.ply, game.now.ending) == (FORMER_MAX_PLIES, Ending(Cause.MOVE_LIMIT))
    assert game.recon.win_reason == WinReason.TURN_LIMIT


# --- Retries ----------------------------------------------------------------------------------------------------


def test_retried_sense_is_answered_as_before() -> None:
    game = new_game()
    happen(game, Sense(WHITE, "e7", ply=0))
    then = game.now
    assert game.decide(Sense(WHITE, "e7", ply=0), 0.0) == Decision([], shown=then)
    assert game.decide(Sense(WHITE, chess.E7, ply=0), 0.0) == Decision([], shown=then)
    assert refusal(game, Sense(WHITE, "e6", ply=0))[0] == "wrong_phase"
    assert refusal(game, Sense(WHITE, "e7"))[0] == "wrong_phase"  # without a ply it is no retry
    play_on = [Play(WHITE, "e2e4"), Sense(BLACK, None), Play(BLACK, "e7e5")]
    for command in play_on:
        happen(game, command)
    assert game.decide(Sense(WHITE, "e7", ply=0), 0.0) == Decision([], shown=then)
    assert refusal(game, Sense(WHITE, "e6", ply=0))[0] == "stale"
    happen(game, Sense(WHITE, "e7", ply=2))
    assert refusal(game, Sense(WHITE, "e7", ply=0))[0] == "stale"


def test_retried_move_is_answered_as_before() -> None:
    game = new_game()
    play(game, "e2d3")
    then = game.now
    assert then.results[WHITE] == MoveMade(0, Move.from_uci("e2d3"), None, None)
    play(game, "e7e5")
    happen(game, Sense(WHITE, "e5"))
    assert game.decide(Play(WHITE, "e2d3", ply=0), 0.0) == Decision([], shown=then)
    assert refusal(game, Play(WHITE, "e2e4", ply=0))[0] == "stale"
    assert refusal(game, Play(WHITE, "e2d3", ply=0, offer_draw=True))[0] == "stale"
    happen(game, End(BLACK, Cause.RESIGNATION, ply=2))
    assert game.decide(Play(WHITE, "e2d3", ply=0), 0.0) == Decision([], shown=then)
    assert game.decide(End(BLACK, Cause.RESIGNATION, ply=2), 0.0) == Decision([], shown=game.now)


@pytest.mark.parametrize("again", ["a7a8", "a7a8q"])
@pytest.mark.parametrize("sent", ["a7a8", "a7a8q"])
def test_promotion_to_a_queen_is_retried_with_or_without_its_letter(sent: str, again: str) -> None:
    game = new_game(fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    play(game, sent)
    decision = game.decide(Play(WHITE, again, ply=0), 0.0)
    assert decision.shown is game.now
    result = game.now.results[WHITE]
    assert result is not None
    assert result.requested == Move.from_uci(sent)
    assert result.taken == Move.from_uci("a7a8q")
    assert refusal(game, Play(WHITE, "a7a8r", ply=0))[0] == "stale"


def test_move_is_no_retry_of_an_ending() -> None:
    game = new_game()
    happen(game, End(WHITE, Cause.RESIGNATION, ply=0))
    assert refusal(game, Play(WHITE, "resignation_white", ply=0))[0] == "game_over"


def test_retried_pass_is_answered_as_before() -> None:
    game = new_game()
    play(game, PASS)
    assert game.decide(Play(WHITE, PASS, ply=0), 0.0) == Decision([], shown=game.now)
    assert game.decide(Sense(WHITE, None, ply=0), 0.0).shown is not None


# --- Clocks -----------------------------------------------------------------------------------------------------


def ticking_game() -> RbcGame:
    game = new_game(clock=ClockOption(initial=10.0, increment=2.0))
    for seat in (WHITE, BLACK):
        happen(game, FirstContact(seat))
    assert game.ticking
    return game


def test_sense_and_move_are_both_charged_to_the_clock() -> None:
    game = ticking_game()
    assert game.clock is not None
    assert happen(game, Sense(WHITE, "e4"), 3.0).events == [Sensed(chess.E4, 3.0)]
    assert game.clock.left(WHITE) == 7.0
    assert happen(game, Play(WHITE, "e2e4"), 4.0).events == [Moved("e2e4", 4.0)]
    assert (game.clock.left(WHITE), game.clock.left(BLACK)) == (5.0, 10.0)


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


def test_clocks_wait_for_first_contact() -> None:
    game = new_game(clock=ClockOption(initial=10.0))
    assert happen(game, FirstContact(BLACK)).events == [FirstContactMade("black")]
    assert happen(game, Absent()).events == [Ended("timeout_white", 0.0)]
    assert game.recon.winner == BLACK


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


def test_null_means_no_clock_and_no_limit() -> None:
    options = new_game(clock=None, reversible_moves=None).options
    assert (options.clock, options.reversible_moves) == (None, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("draws", "claimed"),
        ("max_moves", 10),
        ("illegal_move", "refuse"),
        ("position", 518),
        ("seed", 3),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_options_that_rbc_lacks_are_refused(field: str, value: Any, strict: bool) -> None:
    request = NewGame(player_white=1, player_black=2, variant="rbc", **{field: value})
    with pytest.raises(BadRequest, match=f"{field}: .* does not apply to rbc"):
        resolve(request, {}, 0, strict=strict)


@pytest.mark.parametrize(("field", "value"), [("reversible_moves", 100), ("max_turns", 10)])
@pytest.mark.parametrize("variant", ["standard", "chess960", "crazyhouse"])
def test_options_of_rbc_are_refused_in_other_variants(variant: Any, field: str, value: int) -> None:
    request = NewGame(player_white=1, player_black=2, variant=variant, **{field: value})
    with pytest.raises(BadRequest, match=f"{field}: {value} does not apply to {variant}"):
        resolve(request, {}, 0, strict=True)
    assert resolve(request, {}, 0, strict=False).variant == variant


@pytest.mark.parametrize("position", POSITIONS)
def test_rbc_starts_from_these_positions(position: str) -> None:
    game = new_game(fen=POSITIONS[position], reversible_moves=None)
    assert game.options.fen == POSITIONS[position]
    assert game.recon.board.fen() == POSITIONS[position]
    assert game.fullmove_at(0) == game.recon.board.fullmoves


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "4k3/8/8/8/8/8/8/P3K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/4K3 w - - 1001 1",
        "nonsense",
        "k7/8/8/8/8/8/8/K7 x",
    ],
)
def test_impossible_start_position_is_refused(fen: str) -> None:
    with pytest.raises(BadPosition, match=r"^fen: "):
        new_game(fen=fen)


# --- The fold ---------------------------------------------------------------------------------------------------

seats = st.sampled_from(chess.COLORS)
plies = st.sampled_from([None, None, -1, 0, 3])
asked = st.one_of(
    st.builds(Sense, seats, st.sampled_from(["e4", "z9", None, 12, 99]), plies),
    st.builds(Play, seats, st.sampled_from(["e2e4", "e7e5", PASS, "nonsense", "e2d3"]), plies, st.booleans()),
    st.builds(End, seats, st.sampled_from([Cause.RESIGNATION, Cause.AGREEMENT]), plies),
    st.builds(FirstContact, seats),
    st.sampled_from([Flag(), Absent(), "turn", "turn", "turn", "turn"]),
)


def everything(game: RbcGame) -> list[Any]:
    clock = None if game.clock is None else [game.clock.left(seat) for seat in chess.COLORS]
    return [
        game.now,
        game.turn,
        game.over,
        game.ticking,
        clock,
        game.summary(),
        game.recon.history(),
        game.moves,
    ]


def answer(decision: Decision) -> tuple[Any, ...]:
    refused: GmError | None = decision.refusal
    return list(decision.events), decision.shown, refused and (type(refused), str(refused))


@given(st.sampled_from([None, ClockOption(initial=60.0, increment=1.0)]), st.lists(asked, max_size=60), st.integers())
def test_replaying_the_events_gives_the_same_game(clock: ClockOption | None, asks: list[Any], seed: int) -> None:
    rng = random.Random(seed)
    game = new_game(clock=clock, reversible_moves=12)
    events: list[AnyEvent] = [game.created]
    given_commands: list[Command] = []
    for ask in asks:
        command = _command(ask, game, rng)
        given_commands.append(command)
        before = everything(game)
        decision = game.decide(command, rng.choice([0.0, 0.5, 20.0]))
        assert everything(game) == before  # deciding changes nothing
        for event in decision.events:
            game.apply(event)
        events += decision.events
        _check_snapshot(game)
    created, *others = msgspec.json.decode(msgspec.json.encode(events), type=list[AnyEvent])
    assert isinstance(created, Created)
    again = RbcGame(created)
    for event in others:
        again.apply(event)
    assert everything(again) == everything(game)
    for command in given_commands:
        assert answer(again.decide(command, 0.0)) == answer(game.decide(command, 0.0))


def _command(ask: Any, game: RbcGame, rng: random.Random) -> Command:
    if ask == "turn":
        if game.now.phase == "sense":
            return Sense(game.turn, rng.choice([*chess.SQUARES, None]), game.now.ply)
        move = rng.choice([*game.recon.move_actions(), None])
        return Play(game.turn, PASS if move is None else move.uci(), game.now.ply)
    ply = getattr(ask, "ply", None)
    command: Command = msgspec.structs.replace(ask, ply=game.now.ply) if ply == -1 else ask
    return command


def _check_snapshot(game: RbcGame) -> None:
    now = game.now
    assert now.ply == game.recon.ply
    assert now.halfmoves == game.recon.board.halfmoves
    assert settled(now.position) == pack(chess.Board(game.recon.board.fen()))
    assert unpack(now.position).occupied_co[WHITE] == game.recon.board.occupied_by(WHITE)
    assert (now.phase == "over") == game.over == game.recon.is_over()
    assert game.turn == game.turn_at(now.ply) == game.recon.turn


def test_events_of_other_games_cannot_be_applied() -> None:
    game = new_game()
    for event in (game.created, Loaded(["e4"])):
        with pytest.raises(ValueError, match="can happen to it"):
            game.apply(event)
