"""The rules of CodinGame's chess match, sentence by sentence of its statement. The docstrings quote the sentences."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from typing import Any

import chess
import chess.pgn
import pytest

from gm_arena.codingame import fen as codingame_fen
from gm_arena.referee.match import CLASSICAL, JavaRandom, start_position
from tests.arena.refereeing import Scripted, at_random, match, moves, terminations

FOOLS_WHITE, FOOLS_BLACK = ["f2f3", "g2g4"], ["e7e5", "d8h4"]

# Rules.


async def test_two_games_are_played_with_colours_swapped_from_the_same_position() -> None:
    """Play 2 games against your opponent, once as each color using the same starting position."""
    record = await match(Scripted(""), Scripted(""), start=342)
    assert [(game.white, game.black) for game in record.games] == [(1, 2), (2, 1)]
    assert {game.start_fen for game in record.games} == {"nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w GBgb - 0 1"}


async def test_win_is_a_point_and_draw_is_half_a_point() -> None:
    """A win gives 1 point and a draw gives ½ point."""
    first = Scripted("", *FOOLS_WHITE, "e7e5 second game", "draw")
    second = Scripted("", *FOOLS_BLACK, "e2e4", "g1f3=")
    record = await match(first, second)
    assert [game.result for game in record.games] == ["0-1", "1/2-1/2"]
    assert record.score == [1, 3]
    assert record.winner == 2


async def test_stalemate_is_a_draw() -> None:
    """A player is unable to make a legal move while their king is not being under check, a Stalemate occurs."""
    record = await match(Scripted("", "b6c7"), Scripted(""), start="k7/8/KQ6/8/8/8/8/8 w - - 0 1")
    assert (record.games[0].termination, record.games[0].result) == ("stalemate", "1/2-1/2")
    assert record.games[0].turns[-1].status == "Stalemate."


async def test_third_occurrence_of_a_position_is_a_draw() -> None:
    """The same position occurring for the third time, also known as a Threefold Repetition."""
    record = await match(Scripted("", *["g1f3", "f3g1"] * 4), Scripted("", *["g8f6", "f6g8"] * 4))
    game = record.games[0]
    assert (game.termination, game.result, len(game.turns)) == ("draw_repetition", "1/2-1/2", 8)
    assert game.status == "Draw by threefold repetition."


@pytest.mark.parametrize(
    ("fen", "move", "drawn"),
    [
        ("8/8/4k3/8/8/3pK3/8/8 w - - 0 1", "e3d3", True),  # king vs king
        ("8/8/4k3/8/8/3pK3/8/6N1 w - - 0 1", "e3d3", True),  # king+knight vs king
        ("8/8/4k3/8/8/3pK3/8/6b1 w - - 0 1", "e3d3", True),  # king+bishop vs king
        ("8/8/4k1b1/8/8/3pK3/8/5B2 w - - 0 1", "f1d3", True),  # a bishop each, on squares of one colour
        ("8/8/4k1b1/8/8/3pK3/8/5B2 w - - 0 1", "e3d2", False),  # a pawn is enough
        ("8/8/4k1n1/8/8/3pK3/8/6N1 w - - 0 1", "e3d3", False),  # a knight each
        ("8/8/4k3/8/8/3pK3/8/5NN1 w - - 0 1", "e3d3", False),  # two knights
        ("8/8/4kb2/8/8/3pK3/8/5B2 w - - 0 1", "e3d3", False),  # bishops on squares of both colours
    ],
)
async def test_insufficient_material_is_a_draw(fen: str, move: str, drawn: bool) -> None:
    """There is insufficient material for either player to deliver a checkmate. This includes: ..."""
    record = await match(Scripted("", move), Scripted(""), start=fen)
    assert record.games[0].termination == ("draw_material" if drawn else "resignation_black")


@pytest.mark.parametrize(("halfmoves", "expected"), [(97, "resignation_white"), (98, "draw_fifty_moves")])
async def test_fifty_moves_without_capture_or_pawn_move_are_a_draw(halfmoves: int, expected: str) -> None:
    """No piece capture and no pawn has moved for 50 moves, using the Fifty-Move rule."""
    fen = f"4k3/8/8/8/8/8/4P3/R3K3 w - - {halfmoves} 70"
    record = await match(Scripted("", "a1b1"), Scripted("", "e8d8"), start=fen)
    assert record.games[0].termination == expected


@pytest.mark.parametrize("max_moves", [1, 3])
async def test_game_is_drawn_after_max_moves(max_moves: int) -> None:
    """After maxMoves moves are played. / After this, a draw will be forced as a game result."""
    record = await match(at_random(), at_random(), start=7, max_moves=max_moves)
    assert [len(game.turns) for game in record.games] == [2 * max_moves] * 2
    assert terminations(record) == ["draw_move_limit"] * 2


@pytest.mark.slow
async def test_max_moves_is_125_for_each_player() -> None:
    """maxMoves: Integer indicating the maximum number of moves per player per game. Currently set at 125."""
    record = await match(at_random(), at_random(), start=start_position(3), seed=3)
    limit = [game for game in record.games if game.termination == "draw_move_limit"]
    assert limit
    assert all(len(game.turns) == 250 for game in limit)


async def test_accepted_offer_is_a_draw() -> None:
    """If one side offers a draw and the other side accepts it, also known as a draw by agreement."""
    record = await match(Scripted("", "e2e4="), Scripted("", "draw fine"))
    game = record.games[0]
    assert (game.termination, game.result, game.status) == ("draw_agreed", "1/2-1/2", "Draw by agreement.")
    assert [turn.status for turn in game.turns] == ["A draw is offered.", "Draw by agreement."]


async def test_bot_that_fails_makes_its_opponent_the_winner() -> None:
    """Your opponent loses."""
    record = await match(Scripted("", *FOOLS_WHITE, "e7e5", "a1a1"), Scripted("", *FOOLS_BLACK, "e2e4", "d2d4"))
    assert record.failure is not None
    assert (record.failure.bot, record.winner) == (1, 2)
    failed_ahead = await match(Scripted("", *FOOLS_WHITE), Scripted("", *FOOLS_BLACK, "e2e5"))
    assert (failed_ahead.score, failed_ahead.winner) == ([0, 2], 1)


@pytest.mark.parametrize(
    ("line", "kind", "reason"),
    [
        ("e2e5", "illegal_move", "'e2e5' is not a legal move in"),
        ("e1g1", "illegal_move", "'e1g1' is not a legal move in"),
        ("Nf3", "bad_output", "'Nf3' is not a move, 'random', 'resign' or 'draw'"),
        ("", "bad_output", "'' is not a move"),
        ("0000", "bad_output", "'0000' is not a move"),
    ],
)
async def test_illegal_move_loses_the_match(line: str, kind: str, reason: str) -> None:
    """You attempt to make an illegal move."""
    record = await match(Scripted("", line), at_random())
    failure = record.failure
    assert failure is not None
    assert (failure.bot, failure.game, failure.ply, failure.kind) == (1, 1, 0, kind)
    assert failure.text.startswith(reason)
    assert record.winner == 2
    assert terminations(record) == ["forfeit_white"]  # the second game is not played
    assert '[Termination "rules infraction"]' in record.to_pgn()
    assert record.games[0].result == "0-1"


# Technical details.


async def test_both_games_are_given_as_pgn_and_fen() -> None:
    """Game moves are displayed in the viewer using the Algebraic Notation. / You can access and copy/paste the FEN of
    the current position and PGN of both games.
    """
    first = Scripted("", *FOOLS_WHITE, "resign {so be it}")
    record = await match(first, Scripted("", "e7e5 hello", "d8h4"))
    assert [turn.san for turn in record.games[0].turns] == ["f3", "e5", "g4", "Qh4#"]
    assert record.games[0].turns[-1].status == "Checkmate."
    assert record.games[0].fen == "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w AHah - 1 3"
    pgns = io.StringIO(record.to_pgn())
    read = [chess.pgn.read_game(pgns) for _ in range(3)]
    assert read[2] is None
    assert read[0] is not None
    assert read[1] is not None
    assert [move.uci() for move in read[0].mainline_moves()] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert read[0].next().next().comment == "hello"  # type: ignore[union-attr]
    assert [game.headers["Result"] for game in read if game is not None] == ["0-1", "0-1"]
    assert [game.headers["Termination"] for game in read if game is not None] == ["normal", "normal"]


async def test_pgn_of_any_position_is_read_again() -> None:
    record = await match(at_random(), at_random(), start=342, crazyhouse=True, max_moves=20)
    game = chess.pgn.read_game(io.StringIO(record.to_pgn()))
    assert game is not None
    assert game.errors == []
    assert game.headers["Termination"] == {"draw_move_limit": "adjudication"}.get(terminations(record)[0], "normal")
    assert codingame_fen(game.end().board()) == record.games[0].fen


def test_seed_0_is_the_classical_position() -> None:
    """You can force the initial position to be the classical one by specifying seed=0 in the game options."""
    assert start_position(0) == CLASSICAL
    assert chess.Board.from_chess960_pos(CLASSICAL).board_fen() == chess.STARTING_BOARD_FEN


def test_seeds_draw_what_java_draws() -> None:
    """The initial starting position is randomly shuffled among 960 possibilities: as by CodinGame's own referee."""
    # The first numbers of java.util.Random(42).nextInt(), which are well known, and of nextInt(10).
    generator = JavaRandom(42)
    drawn = [generator.bits(32) for _ in range(2)]
    assert [number - 2**32 if number >= 2**31 else number for number in drawn] == [-1170105035, 234785527]
    generator = JavaRandom(42)
    assert [generator.below(10) for _ in range(3)] == [0, 3, 8]


@pytest.mark.slow
def test_positions_are_spread_evenly() -> None:
    """The initial starting position is randomly shuffled among 960 possibilities."""
    seeds = random.Random(1)
    drawn = Counter(start_position(seeds.getrandbits(48)) for _ in range(1_920))
    assert 790 <= len(drawn) <= 870  # 830 are expected
    assert max(drawn.values()) <= 10


# Notes, input and output.


async def test_draw_offer_lasts_one_turn() -> None:
    """Draw offers only last for one turn. If the opponent does not accept it, it is revoked."""
    second = Scripted("draw", "e7e5", "draw")
    record = await match(Scripted("", "e2e4=", "d2d4"), second)
    assert second.turns == [[("draw", "1")], [("draw", "0")]]
    assert record.failure is not None
    assert (record.failure.bot, record.failure.kind) == (2, "bad_output")
    assert record.failure.text == "'draw' accepts an offer, but none was made"


@pytest.mark.parametrize(("start", "expected"), [(CLASSICAL, "AHah"), (342, "BGbg")])
async def test_castling_rights_in_the_fen_are_columns(start: int, expected: str) -> None:
    """The column names are used instead, so the classical castling positions would be encoded as AHah."""
    first = Scripted("fen")
    await match(first, at_random(), start=start, max_moves=1)
    assert dict(first.turns[0])["fen"].split()[2] == expected


async def test_promotion_names_its_piece() -> None:
    """Piece promotion is specified by appending the piece character at the end."""
    fen = "8/7P/8/8/8/k7/8/K7 w - - 0 1"
    promoted = await match(Scripted("", "h7h8q"), Scripted(""), start=fen)
    assert promoted.games[0].turns[0].san == "h8=Q"
    bare = await match(Scripted("", "h7h8"), at_random(), start=fen)
    assert bare.failure is not None
    assert bare.failure.kind == "illegal_move"


@pytest.mark.parametrize(("castles", "expected"), [("e1h1", "O-O"), ("e1a1", "O-O-O")])
async def test_castling_is_the_kings_move_to_its_rook(castles: str, expected: str) -> None:
    """Castling is done as a king moving to its own rook: e1h1, e1a1."""
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    second = Scripted("lastmove")
    record = await match(Scripted("", castles), second, start=fen)
    assert record.games[0].turns[0].san == expected
    assert moves(record) == [castles, None]
    assert second.turns[0] == [("lastmove", castles)]


@pytest.mark.parametrize("crazyhouse", [False, True])
async def test_king_that_moves_two_squares_does_not_castle(crazyhouse: bool) -> None:
    """A king moving by 2 squares to signal castling is not allowed."""
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    record = await match(Scripted("", "e1g1"), at_random(), start=fen, crazyhouse=crazyhouse)
    assert record.failure is not None
    assert record.failure.kind == "illegal_move"


async def test_listed_moves_are_the_legal_moves() -> None:
    """You can make use of the moves input to validate your own move generation and the move you make as output."""
    first = Scripted("fen moves", "e2e4", "d2d4")
    await match(first, at_random())
    for (_, fen), (_, legal) in first.turns:
        board = chess.Board(fen, chess960=True)
        assert sorted(legal) == sorted(board.uci(move, chess960=True) for move in board.legal_moves)


# Game protocol.


@pytest.mark.parametrize("crazyhouse", [False, True])
async def test_first_turn_gives_the_constants(crazyhouse: bool) -> None:
    """Line 1: constantsCount; next lines: the name and value. crazyHouse: Boolean integer; maxMoves: Integer."""
    first = Scripted("fen")
    await match(first, Scripted(""), crazyhouse=crazyhouse)
    assert first.constants == [f"crazyHouse {int(crazyhouse)}", "maxMoves 125"]


async def test_crazyhouse_drops_captured_pieces() -> None:
    """crazyHouse: 1 as true, indicating whether crazyhouse rules are enabled."""
    first, second = Scripted("", "e2e4", "e4d5", "P@e4"), Scripted("fen lastmove", "d7d5", "d8d5")
    record = await match(first, second, crazyhouse=True)
    assert moves(record)[-2:] == ["P@e4", None]
    fens = [dict(turn)["fen"] for turn in second.turns]
    assert fens[0] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR/ b AHah e3 0 1"  # where no capture is possible
    assert fens[1].split()[0] == "rnbqkbnr/ppp1pppp/8/3P4/8/8/PPPP1PPP/RNBQKBNR/P"
    assert fens[2].split()[0] == "rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR/p"
    assert dict(second.turns[2])["lastmove"] == "P@e4"


@pytest.mark.parametrize("configuration", ["score game draw lastmove moves fen", "fen fen draw", "", "  draw   fen "])
async def test_inputs_come_in_the_configured_order(configuration: str) -> None:
    """You can write any of the following values separated with spaces ... in the same order that is given."""
    first = Scripted(configuration)
    record = await match(first, Scripted(""))
    assert [name for name, _ in first.turns[0]] == configuration.split() == record.bots[0].inputs


async def test_unknown_inputs_are_ignored_and_recorded() -> None:
    """CodinGame's referee ignores them, too."""
    record = await match(["bash", "-c", "echo board fen clock; yes resign"], Scripted(""))
    assert record.failure is None
    assert (record.bots[0].inputs, record.bots[0].unknown_inputs) == (["fen"], ["board", "clock"])


async def test_every_input_is_as_stated() -> None:
    """fen: six fields. moves: a count, then a move a line. lastmove: or none if it is the first turn of the game.

    draw: 1 if a draw was offered last turn by the opponent. game: starting at 1. score: the score of the current player
    followed by the score of the opponent, in half-points.
    """
    first = Scripted("fen moves lastmove draw game score", "e2e4", "resign", "e7e5", "c7c5")
    await match(first, Scripted("", "e7e6=", "d2d4=", "draw?"))
    turns = [dict(turn) for turn in first.turns]
    board = chess.Board(chess960=True)
    assert turns[0] == {
        "fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah - 0 1",
        "moves": [move.uci() for move in board.legal_moves],
        "lastmove": "none",
        "draw": "0",
        "game": "1",
        "score": "0 0",
    }
    compared = ("lastmove", "draw", "game", "score")
    assert [[turn[name] for name in compared] for turn in turns[1:]] == [
        ["e7e6", "1", "1", "0 0"],
        ["d2d4", "1", "2", "0 2"],
    ]


async def test_first_turn_of_each_game_has_no_last_move() -> None:
    """... or none if it is the first turn of the game. / starting at 1 for the first game."""
    second = Scripted("lastmove draw game score", "draw", "d2d4")
    await match(Scripted("", "e2e4=", "e7e5"), second)
    assert [[value for _, value in turn] for turn in second.turns] == [
        ["e2e4", "1", "1", "0 0"],
        ["none", "0", "2", "1 1"],  # neither the move nor the offer of the previous game
        ["e7e5", "0", "2", "1 1"],
    ]


async def test_random_move_may_offer_a_draw_too() -> None:
    """You can offer a draw to your opponent by adding = right after the move, without a space."""
    record = await match(Scripted("", "random="), Scripted("", "draw"))
    assert record.games[0].termination == "draw_agreed"
    with_a_space = await match(Scripted("", "e2e4 ="), Scripted("", "draw"))
    assert with_a_space.failure is not None  # this was no offer, but a comment
    assert with_a_space.games[0].turns[0].comment == "="


async def test_random_moves_depend_on_the_seed() -> None:
    """You can play a random move by outputting random instead of a move."""
    played = [await match(at_random(), at_random(), seed=seed, max_moves=20) for seed in (5, 5, 6)]
    assert moves(played[0]) == moves(played[1]) != moves(played[2])
    assert moves(played[0], 2) == moves(played[1], 2) != moves(played[0])


async def test_record_is_json_with_comments_for_the_viewer() -> None:
    """A comment can be added to be displayed in the viewer by adding a space after the move and its content."""
    first = Scripted("fen", "e2e4= shall we?", f"resign {'x' * 5000}")
    record = await match(first, Scripted("", "random why not"))
    read: dict[str, Any] = json.loads(record.to_json())
    assert read["bots"][0]["inputs"] == ["fen"]
    turns = read["games"][0]["turns"]
    assert [turn["action"] for turn in turns] == ["move", "random", "resign"]
    assert [turn["comment"] for turn in turns] == ["shall we?", "why not", "x" * 500]
    assert [turn["status"] for turn in turns] == ["A draw is offered.", "", "White resigns."]
    assert turns[0].pop("seconds") >= 0
    assert turns[0] == {
        "ply": 0,
        "bot": 1,
        "color": "white",
        "action": "move",
        "move": "e2e4",
        "san": "e4",
        "draw_offered": True,
        "comment": "shall we?",
        "status": "A draw is offered.",
    }
