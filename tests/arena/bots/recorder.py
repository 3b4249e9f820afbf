"""A reconchess bot that records every call, plays at random by a seed, and spoils its arguments.

RECORDER_SEED is the seed; RECORDER_FILE is the file, with {color} for its colour.
"""

import json
import os
import random

import chess
from reconchess import GameHistoryEncoder, Player


class Recorder(Player):
    def __init__(self):
        self.calls = []

    def record(self, name, *arguments):
        self.calls.append([name, *map(shown, arguments)])

    def handle_game_start(self, color, board, opponent_name):
        self.color = color
        self.rng = random.Random(f"{os.environ['RECORDER_SEED']} {color}")
        self.record("start", color, opponent_name, len(board.move_stack), board.fen(en_passant="fen"))
        board.clear()

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        self.record("opponent", captured_my_piece, capture_square)

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        self.record("sense", sense_actions, move_actions, seconds_left)
        square = self.rng.choice([*sense_actions, None])
        sense_actions.clear()
        self.rng.shuffle(move_actions)
        return square

    def handle_sense_result(self, sense_result):
        self.record("sensed", sense_result)

    def choose_move(self, move_actions, seconds_left):
        self.record("move", move_actions, seconds_left)
        move = self.rng.choice([*move_actions, None])
        if move is not None and move.promotion == chess.QUEEN:
            move = chess.Move(move.from_square, move.to_square)  # this means the same
        move_actions.clear()
        self.asked = move
        return move

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        same = requested_move is self.asked
        self.record("moved", requested_move, same, taken_move, captured_opponent_piece, capture_square)

    def handle_game_end(self, winner_color, win_reason, game_history):
        self.record("end", winner_color, win_reason, game_history)
        path = os.environ["RECORDER_FILE"].format(color=chess.COLOR_NAMES[self.color])
        with open(path, "a") as file:
            file.write(json.dumps(self.calls) + "\n")


def shown(argument):
    """Return an argument with its type, and with the types of its items."""
    name = type(argument).__name__
    if isinstance(argument, list | tuple):
        return [name, [shown(each) for each in argument]]
    if name == "GameHistory":
        return [name, json.dumps(argument, cls=GameHistoryEncoder)]
    return [name, str(argument)]
