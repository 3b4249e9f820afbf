"""A reconchess bot that passes, and waits in its first move: it writes a byte to the pipe THINKS, and continues when
there is a byte in the pipe GO_ON. It records its calls in the file CALLS.
"""

import os

from reconchess import Player


class Patient(Player):
    def note(self, *arguments):
        with open(os.environ["CALLS"], "a") as file:
            file.write(repr(arguments) + "\n")

    def handle_game_start(self, color, board, opponent_name):
        self.moves = 0

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        pass

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        return None

    def handle_sense_result(self, sense_result):
        self.note("sensed", sense_result)

    def choose_move(self, move_actions, seconds_left):
        self.moves += 1
        if self.moves == 1:
            os.write(os.open(os.environ["THINKS"], os.O_WRONLY), b"!")
            os.read(os.open(os.environ["GO_ON"], os.O_RDONLY), 1)
        return move_actions[0]

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        self.note("moved", taken_move, captured_opponent_piece, capture_square)

    def handle_game_end(self, winner_color, win_reason, game_history):
        self.note("end", winner_color, win_reason.name, game_history.num_turns())
