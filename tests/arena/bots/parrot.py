"""A reconchess bot that makes the choices in PARROT, a JSON array of [sense, move], and raises after the last."""

import json
import os

import chess
from reconchess import Player


class Parrot(Player):
    def __init__(self):
        self.turns = json.loads(os.environ["PARROT"])
        self.turn = -1

    def handle_game_start(self, color, board, opponent_name):
        print("begins", color, opponent_name)

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        self.turn += 1

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        return self.turns[self.turn][0]

    def handle_sense_result(self, sense_result):
        pass

    def choose_move(self, move_actions, seconds_left):
        move = self.turns[self.turn][1]
        return move and chess.Move.from_uci(move)

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        pass

    def handle_game_end(self, winner_color, win_reason, game_history):
        print("ends", winner_color, win_reason)
