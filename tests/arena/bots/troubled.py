"""A reconchess bot that plays at random until the trouble that TROUBLE names, in its first turn if that has one."""

import os
import random
import signal
import subprocess
import sys

import chess
from reconchess import Player

TROUBLE = os.environ["TROUBLE"]


class Troubled(Player):
    def __init__(self):
        self.trouble("init")
        print("a line that Troubled prints")

    def trouble(self, where):
        if where != TROUBLE.split()[0]:
            return
        match TROUBLE.split()[1]:
            case "raise":
                raise ZeroDivisionError(f"trouble in {where}")
            case "exit":
                sys.exit("I have had enough")
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "engine":  # its partner ends, as an engine does that crashes
                engine = subprocess.Popen(["true"], stdin=subprocess.PIPE)
                engine.wait()
                engine.stdin.write(b"go\n" * 100_000)

    def handle_game_start(self, color, board, opponent_name):
        self.trouble("start")

    def handle_opponent_move_result(self, captured_my_piece, capture_square):
        self.trouble("opponent")

    def choose_sense(self, sense_actions, move_actions, seconds_left):
        self.trouble("sense")
        return 64 if TROUBLE == "sense illegal" else chess.E4

    def handle_sense_result(self, sense_result):
        self.trouble("sensed")

    def choose_move(self, move_actions, seconds_left):
        self.trouble("move")
        if TROUBLE == "move illegal":
            return chess.Move.from_uci("e1e8")
        if TROUBLE == "move null":
            return chess.Move.null()
        return random.choice(move_actions)

    def handle_move_result(self, requested_move, taken_move, captured_opponent_piece, capture_square):
        self.trouble("moved")

    def handle_game_end(self, winner_color, win_reason, game_history):
        print("a last line", flush=False)
        self.trouble("end")
