"""The tracker of possible positions, compared with brute force on boards and with the true position in whole games."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chess
import pytest
from chess import Board, Color, Move, Square

from gm_client import Client, connect
from gm_client.rbc import SENSE_SQUARES, simulate_sense
from gm_client.tracker import Tracker
from gm_recon import ReconBoard, ReconGame, side_moves
from gm_recon.position_sets import BATCH
from gm_recon.possible import PossiblePositions
from tests.proofs import cases
from tests.serving import Served

#: Positions where rare events come soon: castling, en passant captures, promotions, and almost bare kings.
RARE = [
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 1",
    "4k3/2p1p3/8/1P1P1P2/2p1p3/8/1P1P1P2/4K3 w - - 0 1",
    "4k3/2p1p3/8/1P1P1P2/2p1p3/8/1P1P1P2/4K3 b - - 0 1",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",
    "k1n5/1P3P2/8/8/8/8/1p3p2/K1N5 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
]

#: Half-turns of a long game, and a cap above the number of positions that any sense leaves.
PLIES, ROOMY = 80, 2_000_000

#: What distinguishes positions: the squares of each colour and kind of piece, the castling rights, and a possible en
#: passant capture.
Key = tuple[int, int, int, int, int, int, int, int, int, Square | None]


def key(board: Board) -> Key:
    able = board.ep_square is not None and any(
        board.pieces_mask(chess.PAWN, board.turn) & chess.BB_PAWN_ATTACKS[not board.turn][board.ep_square] & bit
        for bit in chess.BB_SQUARES
    )
    white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
    kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
    return white, black, *kinds, board.castling_rights, board.ep_square if able else None


class BruteForce:
    """A tracker in the simplest form: all boards, and all possible requests on each."""

    def __init__(self, color: Color, fen: str) -> None:
        self.color = color
        self.boards = [ReconBoard(fen)]

    def opponent_moved(self, capture: Square | None) -> None:
        self._replace(
            (board, board.revise(move) if move else (None, None))
            for board in self.boards
            for move in [None, *board.move_actions()]
            if (board.revise(move)[1] if move else None) == capture
        )

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        outcomes = ((board, board.revise(requested) if requested else (None, None)) for board in self.boards)
        self._replace(
            (board, outcome)
            for board, outcome in outcomes
            if outcome == (taken, capture) and (capture is None or not board.has_king(capture))
        )

    def saw(self, square: Square, cells: object) -> None:
        self.boards = [board for board in self.boards if board.window(square) == cells]

    def _replace(self, outcomes: Iterable[tuple[ReconBoard, tuple[Move | None, Square | None]]]) -> None:
        found: dict[Key, ReconBoard] = {}
        for board, (taken, capture) in outcomes:
            successor = board.copy()
            successor.push(taken, capture)
            found.setdefault(key(successor.as_chess()), successor)
        self.boards = list(found.values())

    def keys(self) -> set[Key]:
        return {key(board.as_chess()) for board in self.boards}


@pytest.mark.slow
@pytest.mark.parametrize("color", chess.COLORS)
def test_tracker_equals_brute_force_in_short_games(color: Color) -> None:
    for seed in range(cases(3)):
        rng = random.Random(f"{color} {seed}")
        fen = RARE[seed % len(RARE)] if seed % 3 else chess.STARTING_FEN
        game, tracker, brute = ReconGame(fen), Tracker(color, fen), BruteForce(color, fen)
        for turn in range(3 if fen == chess.STARTING_FEN else 7):
            compare(tracker, brute, game)
            square = rng.choice(SENSE_SQUARES)
            cells = game.sense(square)
            if game.turn == color:
                tracker.saw(cells)
                brute.saw(square, cells)
                compare(tracker, brute, game)
            requested, taken, capture = game.move(rng.choice([None, *game.move_actions()]))
            if game.is_over() or len(brute.boards) > 2_000:
                break
            if game.turn != color:
                tracker.player_moved(requested, taken, capture)
                brute.player_moved(requested, taken, capture)
            else:
                tracker.opponent_moved(capture)
                brute.opponent_moved(capture)
            assert turn < 7
        assert tracker.complete


def compare(tracker: Tracker, brute: BruteForce, game: ReconGame) -> None:
    boards = list(tracker)
    assert {key(board) for board in boards} == brute.keys()
    assert len(boards) == len(tracker) == len(brute.boards)
    assert key(game.board.as_chess()) in {key(board.as_chess()) for board in brute.boards}
    assert game.board.as_chess() in tracker


@pytest.mark.slow
def test_true_position_is_always_possible_in_long_games() -> None:
    """Both players move at random and sense where it tells them most; no sense leaves more positions than the cap.

    Before a sense there may be more than the cap; the positions left out then are there again after the sense.
    """
    sizes, most = [], 0
    for seed in range(cases(1)):
        fen = chess.STARTING_FEN if seed % 4 else RARE[seed // 4 % len(RARE)]
        for tracker, has_sensed in turns_of_a_game(seed, PLIES, fen):
            if has_sensed:
                sizes.append(len(tracker))
                assert tracker.complete
            else:
                most = max(most, len(tracker))
    sizes.sort()
    print(f"{len(sizes)} senses; positions left: median {sizes[len(sizes) // 2]}, most {sizes[-1]}; before: {most}")


def turns_of_a_game(
    seed: int, plies: int, fen: str = chess.STARTING_FEN, cap: int = ROOMY
) -> Iterator[tuple[Tracker, bool]]:
    """Play a game; yield each tracker before and after its player senses. A complete tracker always contains the
    true position.
    """
    rng = random.Random(seed)
    game = ReconGame(fen)
    trackers = {color: Tracker(color, fen, cap=cap, rng=random.Random(f"{seed} {color}")) for color in chess.COLORS}
    while not game.is_over() and game.ply < plies:
        tracker = trackers[game.turn]
        if game.ply:
            tracker.opponent_moved(game.opponent_capture)
        check(tracker, game)
        yield tracker, False
        tracker.saw(game.sense(tracker.best_sense()))
        check(tracker, game)
        yield tracker, True
        outcome = game.move(rng.choice([None, *game.move_actions()]))
        if not game.is_over():
            tracker.player_moved(*outcome)
            check(tracker, game)


def check(tracker: Tracker, game: ReconGame) -> None:
    assert game.board.as_chess() in tracker or not tracker.complete
    board = next(iter(tracker), None)
    assert board is None or (board.turn, board.fullmove_number) == (game.board.turn, game.board.fullmoves)


# The cap.


@pytest.mark.slow
def test_positions_left_out_before_a_sense_return_after_it() -> None:
    """In this game the true position was once among the thousands that were dropped, and was missed."""
    crowded = 0
    for tracker, has_sensed in turns_of_a_game(68, 28, cap=50_000):
        assert tracker.complete or not has_sensed
        crowded += not tracker.complete
    assert crowded > 0


@pytest.mark.slow
def test_complete_tracker_with_a_cap_equals_one_without() -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(max(5, cases(2))):
        rng = random.Random(f"cap {seed}")
        fen, cap = RARE[seed % len(RARE)], rng.choice([1, 3, 10, 30, 100])
        game = ReconGame(fen)
        whole, part = (Tracker(chess.WHITE, fen, cap=size, rng=rng) for size in (ROOMY, cap))
        was_complete = True
        while not game.is_over() and game.ply < 14 and len(whole) < 20_000:
            cells = game.sense(rng.choice([None, *SENSE_SQUARES]))
            mine, outcome = game.turn == chess.WHITE, None
            if mine:
                compare_part(whole, part, cap)
                for tracker in (whole, part):
                    tracker.saw(cells)
                compare_part(whole, part, cap)
                counts[was_complete, part.complete] += 1
            outcome = game.move(rng.choice([None, *game.move_actions()]))
            if game.is_over():
                break
            for tracker in (whole, part):
                tracker.player_moved(*outcome) if mine else tracker.opponent_moved(outcome[2])
            compare_part(whole, part, cap)
            was_complete = part.complete
    assert min(counts[False, True], counts[True, True], counts[False, False]) > 0


def compare_part(whole: Tracker, part: Tracker, cap: int) -> None:
    assert len(part) <= cap
    assert keys(part) <= keys(whole)
    if part.complete:
        assert len(part) == len(whole)


def test_tracker_above_its_cap_keeps_a_part_and_is_incomplete() -> None:
    rng = random.Random(5)
    game = ReconGame()
    outcome: tuple[Move | None, Move | None, Square | None] = (None, None, None)
    whole, part = Tracker(chess.BLACK), Tracker(chess.BLACK, cap=300, rng=random.Random(1))
    for turn in range(3):
        for tracker in (whole, part):
            if turn:
                tracker.player_moved(*outcome)
        game.sense(None)
        game.move(rng.choice(game.move_actions()))
        whole.opponent_moved(game.opponent_capture)
        part.opponent_moved(game.opponent_capture)
        assert keys(part) <= keys(whole)
        assert part.complete == (len(whole) <= 300)
        game.sense(None)
        outcome = game.move(rng.choice(game.move_actions()))
    assert len(whole) > 3_000
    assert len(part) == 300
    assert whole.complete


def test_tracker_that_may_have_dropped_the_truth_keeps_its_smaller_cap() -> None:
    positions = PossiblePositions(chess.BLACK, cap=200, sample_cap=100, rng=random.Random(1))
    sizes = []
    for _ in range(4):
        positions.opponent_moved(None)
        before = len(positions)
        positions.saw([])
        sizes.append((before, len(positions), positions.complete))
        positions.player_moved(None, None, None)
    assert sizes == [(21, 21, True), (200, 200, False), (100, 100, False), (100, 100, False)]


def test_cap_that_changes_holds_from_the_next_observation_on() -> None:
    positions = PossiblePositions(chess.BLACK, cap=200, sample_cap=100, rng=random.Random(1))
    sizes = []
    for cap in (50, 150, 300):
        positions.limit(cap)
        positions.opponent_moved(None)
        positions.saw([])
        sizes.append(len(positions))
        positions.player_moved(None, None, None)
    assert sizes == [21, 150, 100]


def test_large_sets_are_worked_on_in_steps() -> None:
    tracker = Tracker(chess.BLACK, cap=2_000)
    for _ in range(3):
        tracker.opponent_moved(None)
        tracker.player_moved(None, None, None)
    assert len(tracker) == 2_000
    steps = sum(1 for _ in tracker.opponent_moved_steps(None))
    assert steps > len(tracker) / BATCH
    assert not tracker.complete  # each step has expanded a batch; the others chose those that are kept
    assert sum(1 for _ in tracker.saw_steps(ReconBoard().window(chess.E5))) > len(tracker) / BATCH


def test_tables_of_moves_that_were_full_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    small, whole = Tracker(chess.BLACK), Tracker(chess.BLACK)
    for _ in range(3):
        for tracker, room in (small, 5), (whole, 50_000):
            monkeypatch.setattr(side_moves, "MAX_KEPT", room)
            tracker.opponent_moved(None)
            tracker.player_moved(None, None, None)
    assert keys(small) == keys(whole)


def test_kept_positions_are_drawn_uniformly() -> None:
    """Each of the twenty-one positions after a first turn is kept equally often."""
    kept: Counter[Key] = Counter()
    for seed in range(300):
        tracker = Tracker(chess.BLACK, cap=7, rng=random.Random(seed))
        tracker.opponent_moved(None)
        assert (len(tracker), tracker.complete) == (7, False)
        kept.update(key(board) for board in tracker)
    assert len(kept) == 21
    # a hundred on average; the bounds are five standard deviations away
    assert all(59 < count < 141 for count in kept.values())


def keys(tracker: Tracker) -> set[Key]:
    return {key(board) for board in tracker}


def test_impossible_observation_is_refused() -> None:
    tracker = Tracker(chess.BLACK)
    tracker.opponent_moved(None)
    with pytest.raises(ValueError, match=r"^no position is possible any more: the observations "):
        tracker.saw([(chess.E4, chess.Piece(chess.QUEEN, chess.WHITE))])
    assert len(tracker) == 21  # unchanged


def test_lost_tracker_continues_without_positions() -> None:
    tracker = Tracker(chess.BLACK, cap=1, rng=random.Random(1))
    tracker.opponent_moved(None)
    absent = next(square for square in (chess.E4, chess.D4) if not tracker.sample(1)[0].piece_at(square))
    tracker.player_moved(None, None, None)
    assert (len(tracker), tracker.complete, tracker.lost) == (1, False, False)
    tracker.opponent_moved(None)
    pawn = chess.Piece(chess.PAWN, chess.WHITE)
    tracker.saw([(absent, pawn), (absent - 16, pawn), (chess.A3, pawn)])
    assert (len(tracker), tracker.lost, tracker.sample(3), tracker.pieces_at(absent)) == (0, True, [], {})
    assert tracker.best_sense() in SENSE_SQUARES
    assert tracker.expected_after(chess.E4) == 0
    tracker.player_moved(*[Move.from_uci("e7e5")] * 2, None)
    tracker.opponent_moved(None)
    assert tracker.lost


# Its answers.


def test_pieces_at_counts_what_may_stand_on_a_square() -> None:
    tracker = Tracker(chess.BLACK)
    tracker.opponent_moved(None)
    pawn, knight = chess.Piece(chess.PAWN, chess.WHITE), chess.Piece(chess.KNIGHT, chess.WHITE)
    assert tracker.pieces_at(chess.A3) == {pawn: 1, knight: 1, None: 19}
    assert tracker.pieces_at(chess.E8) == {chess.Piece(chess.KING, chess.BLACK): 21}


def test_expected_after_computes_what_a_sense_would_leave() -> None:
    tracker = Tracker(chess.BLACK)
    tracker.opponent_moved(None)
    for square in SENSE_SQUARES:
        outcomes = Counter(str(simulate_sense(board, square)) for board in tracker)
        expected = sum(count * count for count in outcomes.values()) / 21
        assert tracker.expected_after(square) == pytest.approx(expected)
    best = tracker.best_sense()
    assert tracker.expected_after(best) == min(map(tracker.expected_after, SENSE_SQUARES))


def test_tracker_must_begin_with_the_game() -> None:
    state: Any = {"turn": "black", "start_fen": chess.STARTING_FEN, "ply_index": 1, "opponent_capture": None}
    tracker = Tracker.of(state)
    for _ in range(2):  # the same turn comes again
        tracker.begin(state)
        assert len(tracker) == 21
    with pytest.raises(ValueError, match=r"^ply_index: 3: the tracker has seen the game up to ply 1$"):
        tracker.begin({**state, "ply_index": 3})
    with pytest.raises(ValueError, match=r"^ply_index: 3: a tracker has to see a game from its beginning$"):
        Tracker.of({**state, "ply_index": 3})


def test_tracker_contains_the_true_position_in_a_live_game(daemon_process: Served) -> None:
    """The tracker takes what the server sends, from the first turn to the last."""
    with connect(port=daemon_process.port, patience=5) as black, connect(port=daemon_process.port) as white:
        game_id = white.new_game(41, 42, variant="rbc", max_turns=15)["game_id"]
        kept: dict[int, list[Board]] = {}

        def play(client: Client, player: int) -> None:
            tracker, rng = None, random.Random(player)
            for turn in client.turns(game_id, player=player):
                tracker = Tracker.of(turn.state, rng=rng) if tracker is None else tracker
                tracker.begin(turn.state)
                tracker.sensed(turn.sense(chess.square_name(tracker.best_sense())))
                assert tracker.complete
                kept[turn.ply] = list(tracker)
                tracker.moved(turn.move(rng.choice([None, *turn.move_actions])))

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(play, [white, black], [41, 42]))
        history = white.history(game_id)["history"]
    for color in ("true", "false"):
        for turn, fen in enumerate(history["fens_before_move"][color]):
            assert key(Board(fen)) in {key(board) for board in kept[2 * turn + (color == "false")]}
    assert len(kept) > 10
