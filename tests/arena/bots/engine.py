"""A UCI engine that moves at random, and records its input in the given file.

The second argument is the trouble of its second move: `none`, `illegal`, `garbage`, `die`, or `play`. With `odd` it
promotes where it can, and writes every move twice, in an unusual form.
"""

import os
import random
import sys

import chess
from chess.variant import CrazyhouseBoard

path, trouble = sys.argv[1], sys.argv[2]
board, searches, crazyhouse, chess960 = chess.Board(), 0, False, False
rng = random.Random(1)

with open(path, "a", buffering=1) as log:
    for line in sys.stdin:
        log.write(line)
        match line.split():
            case ["uci"]:
                print("id name Engine 1.0\noption name UCI_Chess960 type check default false")
                print("option name UCI_Variant type combo default chess var chess var crazyhouse")
                print("option name UCI_Opponent type string default none")
                print("option name Style type string default calm\nuciok")
            case ["isready"]:
                print("readyok")
            case ["setoption", "name", "UCI_Variant", "value", value]:
                crazyhouse = value == "crazyhouse"
            case ["setoption", "name", "UCI_Chess960", "value", value]:
                chess960 = value == "true"
            case ["position", kind, *rest]:
                fen, _, moves = " ".join(rest).partition("moves")
                make = CrazyhouseBoard if crazyhouse else chess.Board
                board = make(fen if kind == "fen" else make.starting_fen, chess960=chess960)
                for move in moves.split():
                    board.push_uci(move)
            case ["go", *_]:
                searches += 1
                moves = list(board.legal_moves)
                if trouble == "odd":
                    moves = [each for each in moves if each.promotion] or moves
                move = board.uci(rng.choice(moves))
                match trouble if searches == 2 else "play":
                    case "none":
                        move = "(none)"
                    case "illegal":
                        move = "e1e8"
                    case "garbage":
                        move = "?!"
                    case "die":
                        os._exit(7)
                if trouble == "odd":
                    move = move[:4] + move[4:].upper()
                    print(f"about the bestmove\njoho bestmove {move}")
                print(" bestmove", move)
            case ["quit"]:
                sys.exit()
        sys.stdout.flush()
