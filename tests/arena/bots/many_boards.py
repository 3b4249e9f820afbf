"""A reconchess bot in the style of public ones: it keeps the boards that may be the true one, and asks Stockfish.

STOCKFISH_EXECUTABLE names the program. All that is random follows from the colour, and the engine counts nodes.
"""

import os
import random
from collections import Counter

import chess
import chess.engine
from reconchess import Player
from reconchess.utilities import capture_square_of_move, move_actions, revise_move, without_opponent_pieces

KEPT, ASKED, NODES = 50, 4, 100
INNER = [chess.square(file, rank) for rank in range(1, 7) for file in range(1, 7)]


class ManyBoards(Player):
    def handle_game_start(self, color, board, opponent_name):
        self.color = color
        self.rng = random.Random(f"7 {color}")
        self.engine = chess.engine.SimpleEngine.popen_uci(os.environ["STOCKFISH_EXECUTABLE"])
        self.own = board.copy()
        self.own.turn = color
        self.own = without_opponent_pieces(self.own)
        self.boards = {board.fen()}
        self.opponent_has_moved = board.turn != color

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        if captured_my_piece:
            self.own.remove_piece_at(capture_square)
        if self.opponent_has_moved:
            self.keep(
                after(board, taken)
                for board in self.each()
                for taken in {None, *(revise_move(board, move) for move in move_actions(board))}
                if capture_square_of_move(board, taken) == capture_square
            )
        self.opponent_has_moved = True

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        boards = list(self.each())

        def expected(square):
            shown = Counter(tuple(board.piece_at(each) for each in window(square)) for board in boards)
            return sum(count * count for count in shown.values())

        return min(INNER, key=expected)

    def handle_sense_result(self, sense_result):
        self.keep(
            board.fen()
            for board in self.each()
            if all(board.piece_at(square) == piece for square, piece in sense_result)
        )

    def choose_move(self, move_actions, seconds_left):
        boards = list(self.each())
        votes = Counter(map(self.best, self.rng.sample(boards, min(ASKED, len(boards)))))
        wanted = [move for move, _ in votes.most_common() if move in move_actions]
        return wanted[0] if wanted else self.rng.choice(move_actions)

    def best(self, board):
        king = board.king(not self.color)
        if king is None:
            return None
        if attackers := board.attackers(self.color, king):
            return chess.Move(min(attackers), king)
        if not board.is_valid():
            return None
        return self.engine.play(board, chess.engine.Limit(nodes=NODES), game=object()).move

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        self.own.push(taken_move or chess.Move.null())
        self.keep(
            after(board, taken_move)
            for board in self.each()
            if (None if requested_move is None else revise_move(board, requested_move)) == taken_move
            and capture_square_of_move(board, taken_move) == capture_square
        )
        self.own.turn = self.color

    def handle_game_end(self, winner_color, win_reason, game_history):
        self.engine.quit()

    def each(self):
        """Yield the boards in an order that is the same in every process."""
        return map(chess.Board, sorted(self.boards))

    def keep(self, fens):
        """Keep some of the boards; if none is left, the player's own pieces."""
        found = sorted(set(fens))
        self.boards = set(self.rng.sample(found, KEPT)) if len(found) > KEPT else set(found) or {self.own.fen()}


def after(board, move):
    moved = board.copy(stack=False)
    moved.push(move or chess.Move.null())
    return moved.fen()


def window(square):
    return [square + 8 * rank + file for rank in (-1, 0, 1) for file in (-1, 0, 1)]
