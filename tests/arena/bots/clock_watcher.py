"""A reconchess bot that writes its clock's times to RECORDER_FILE, with ``clock`` for {color}."""

import json
import os

from reconchess import Player


class ClockWatcher(Player):
    def __init__(self):
        self.seconds = []

    def handle_game_start(self, color, board, opponent_name):
        pass

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        pass

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        self.seconds.append(seconds_left)

    def handle_sense_result(self, sense_result):
        pass

    def choose_move(self, move_actions, seconds_left):
        self.seconds.append(seconds_left)

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        pass

    def handle_game_end(self, winner_color, win_reason, game_history):
        with open(os.environ["RECORDER_FILE"].format(color="clock"), "w") as file:
            json.dump(self.seconds, file)
