"""Dark chess compared with OpenSpiel's ``dark_chess``, move by move: the rules, and each player's observation."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import chess
import pytest

from gm_protocol.endings import Cause, termination_of
from gm_protocol.messages import NewGame
from gm_protocol.state import GameState
from gmd.games.commands import Play
from gmd.games.dark import DarkBoard, DarkGame
from gmd.games.events import Created
from gmd.games.variants import make_game, resolve
from gmd.games.views import VIEWER_IN, actions, game_state
from tests.proofs import cases, in_processes
from tests.tools import require_module

pyspiel = require_module("pyspiel")  # of the package open_spiel

#: Games that one process plays.
GAMES_A_JOB = 50

#: Positions whose events random games from the usual start seldom reach.
STARTS = [
    chess.STARTING_FEN,
    "r3k2r/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/R3K2R w KQkq - 0 1",  # double steps next to pawns, and castling
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",  # castling out of and through check
    "4k3/PPPP4/8/8/8/8/pppp4/4K3 w - - 0 1",  # promotions
    "8/8/8/3k4/8/8/3K4/8 w - - 90 70",  # bare kings, and fifty moves
    "k7/P7/8/8/8/8/p7/K7 w - - 0 1",  # few moves, and repeated positions
    "KN2k3/PPpP4/P1P5/8/8/8/8/8 b - - 0 1",  # stalemate if the king goes to d8
]


#: The move that stalemates in the last start position; random play prefers it.
STALEMATES = chess.Move.from_uci("e8d8")


def pack(squares: str) -> str:
    """Return the first field of a FEN whose empty squares are given one by one."""
    for count in range(8, 1, -1):
        squares = squares.replace("1" * count, str(count))
    return squares


def dark_fen(state: GameState, more: chess.Bitboard = 0) -> str:
    """Return our view in OpenSpiel's notation: a FEN with a "?" for every square that is not seen.

    :param more: empty squares that OpenSpiel shows in addition.
    """
    visible = {chess.parse_square(name) for name in state.visible or ()} | set(chess.scan_forward(more))  # type: ignore[arg-type]
    board = chess.BaseBoard(state.fen.split()[0])
    ranks = []
    for rank in range(7, -1, -1):
        squares = [chess.square(file, rank) for file in range(8)]
        pieces = [piece.symbol() if (piece := board.piece_at(square)) else "1" for square in squares]
        ranks.append("".join(p if s in visible else "?" for s, p in zip(squares, pieces, strict=True)))
    return " ".join([pack("/".join(ranks)), *state.fen.split()[1:4]])


def check_observation(game: DarkGame, spiel: Any, seat: chess.Color, seen: Counter[str]) -> None:
    """Assert that a seat's view equals OpenSpiel's observation, except where that reveals too much.

    OpenSpiel's half-move clock reveals that the opponent captured a piece or moved a pawn out of the player's sight.
    And a side that has just moved a pawn by two squares sees the squares behind it, and the first of them as the en
    passant square, exactly if an opponent's pawn may capture there, seen or not.
    """
    board, turn, castling, passant, halfmoves, fullmoves = spiel.observation_string(int(seat)).split()
    state = game_state(game, game.now, 0.0, VIEWER_IN[seat], brief=False)
    more = 0
    if seat != game.turn and passant != "-":
        assert passant == str(spiel).split()[3]
        truth, crossed = chess.Board(str(spiel)), chess.parse_square(passant)
        if truth.attackers(seat, crossed) & truth.pieces(chess.PAWN, seat):  # OpenSpiel shows it to the wrong side too
            more = chess.BB_SQUARES[crossed] | chess.BB_SQUARES[crossed + (-8 if seat else 8)]
        assert not more & truth.occupied
        seen["its own crossed square"] += 1
        passant = "-"
    assert dark_fen(state, more) == f"{board} {turn} {castling} {passant}"
    assert state.passant_file == (-1 if passant == "-" else chess.FILE_NAMES.index(passant[0]))
    assert (int(halfmoves), int(fullmoves)) == (game.now.halfmoves, int(state.fen.split()[5]))
    assert state.fen.split()[4] == "0"


def check_moves(game: DarkGame, spiel: Any) -> dict[str, int]:
    """Assert that the legal moves are OpenSpiel's; return its actions, by our UCI.

    :returns: empty once the game is over.
    """
    if game.over:
        return {}
    board = DarkBoard(str(spiel))
    ours = {board.san(chess.Move.from_uci(uci)): uci for uci in actions(game, VIEWER_IN[game.turn]).move or ()}
    theirs = {spiel.action_to_string(action).rstrip("+#"): action for action in spiel.legal_actions()}
    assert sorted(ours) == sorted(theirs)
    return {uci: theirs[san] for san, uci in ours.items()}


def check_end(game: DarkGame, spiel: Any) -> None:
    """Assert that the game is over when OpenSpiel's is, with the same result and for the same reason."""
    assert spiel.is_terminal() == game.over
    ending, board = game.now.ending, DarkBoard(str(spiel))
    winner = None if ending is None else ending.winner
    assert spiel.returns() == [0 if winner is None else 1 if winner == player else -1 for player in (False, True)]
    if ending is not None:
        recurs, stuck = ending.cause is Cause.THREEFOLD_REPETITION, not any(board.legal_moves)
        captured = board.king(chess.WHITE) is None or board.king(chess.BLACK) is None
        assert captured == (ending.cause is Cause.KING_CAPTURE)
        assert recurs or captured or stuck == (ending.cause is Cause.STALEMATE)
        assert recurs or captured or stuck or (ending.cause is Cause.FIFTY_MOVES and board.halfmove_clock >= 100)


def play(seed: int, seen: Counter[str]) -> None:
    """Play one random game on both sides, and compare before and after every move."""
    rng = random.Random(seed)
    fen = rng.choice(STARTS) if seed % 2 else chess.STARTING_FEN
    options = resolve(NewGame(player_white=1, player_black=2, variant="dark_chess", fen=fen), {}, 0, strict=True)
    game = make_game(Created(1, 2, options, "2026-11-22T04:41:00Z"))
    assert isinstance(game, DarkGame)
    spiel = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
    shuffles = rng.random() < 0.2  # between few squares, so that positions repeat
    spares = seed % 4 == 0  # spares kings, so that games last
    returns = seed % 16 == 6  # moves pieces back to where they came from, so that positions repeat soon
    while True:
        check_end(game, spiel)
        moves = check_moves(game, spiel)
        if not moves:
            break
        for seat in chess.COLORS:
            check_observation(game, spiel, seat, seen)
        uci = back_of(game) if returns else None
        if uci not in moves:
            uci = choose(moves, DarkBoard(str(spiel)), rng, shuffles=shuffles, spares=spares)
        note(DarkBoard(str(spiel)), chess.Move.from_uci(uci), seen)
        spiel.apply_action(moves[uci])
        decision = game.decide(Play(game.turn, uci), 0.0)
        assert decision.refusal is None
        for event in decision.events:
            game.apply(event)
    seen[termination_of(game.now.ending)] += 1
    seen["games"] += 1
    seen["moves"] += game.now.ply


def back_of(game: DarkGame) -> str | None:
    """Return the move that takes back the latest move of the side to move; None if there is none yet."""
    if len(game.moves) < 2:
        return None
    move = chess.Move.from_uci(game.moves[-2])
    return chess.Move(move.to_square, move.from_square).uci()


def choose(moves: dict[str, int], board: chess.Board, rng: random.Random, *, shuffles: bool, spares: bool) -> str:
    """Draw a move; rare moves are preferred.

    :param shuffles: avoid captures and pawn moves.
    :param spares: avoid the capture of a king most of all.
    """
    drawn = [chess.Move.from_uci(uci) for uci in rng.sample(sorted(moves), len(moves))]

    def wish(move: chess.Move) -> int:
        if spares and board.piece_type_at(move.to_square) == chess.KING:
            return 3
        if board.is_castling(move) or board.is_en_passant(move) or move == STALEMATES:
            return 0
        return 1 + (shuffles and board.is_zeroing(move))

    return (min(drawn, key=wish) if rng.random() < 0.9 else drawn[0]).uci()


def note(board: chess.Board, move: chess.Move, seen: Counter[str]) -> None:
    """Count rare events, so that the proof can show that they happened."""
    rules = chess.Board(board.fen(en_passant="fen"))
    seen["castled against check's rules"] += board.is_castling(move) and not rules.is_legal(move)
    seen["castled"] += board.is_castling(move)
    seen["en passant"] += board.is_en_passant(move)
    seen["promoted"] += move.promotion is not None
    seen["left in check"] += rules.is_into_check(move)


def play_games(first: int, count: int) -> Counter[str]:
    """Play games of consecutive seeds; return the counts of what happened in them."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            play(seed, seen)
        except AssertionError as error:
            error.add_note(f"in the game of seed {seed}")
            raise
    return seen


#: Events that the games must reach.
HAPPENS = (
    *("victory_white", "victory_black", "draw_repetition", "draw_fifty_moves", "stalemate"),
    *("castled", "castled against check's rules", "en passant", "promoted", "left in check"),
)


@pytest.mark.slow
def test_random_games_match_openspiel_with_every_observation() -> None:
    games = max(30, cases(15))  # in the first two dozen everything has happened
    jobs = [(first, min(GAMES_A_JOB, games - first)) for first in range(0, games, GAMES_A_JOB)]
    seen = sum(in_processes(play_games, jobs), Counter())
    assert seen["games"] == games
    assert [what for what in HAPPENS if not seen[what]] == []
