"""The arrays of a batch: which column of the state holds what. All squares are as the side to move sees them.

A game's position is stored as the side to move sees it: its own pieces first, and for Black every square mirrored from
rank 1 to rank 8 (``square ^ 56``). So the rules are written for one side only, and a number of an action, a square or a
plane means the same to both players.
"""

from __future__ import annotations

import numpy as np

# --- Columns of ``state``: uint64[n, STATE] ---------------------------------------------------------------------

#: The side to move's pawns, knights, bishops, rooks, queens and king in columns 0 to 5, its opponent's in 6 to 11.
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
OPPONENT = 6
#: The rooks of both sides that may still castle.
CASTLING = 12
#: Random numbers drawn so far for this game.
DRAWS = 13
#: What its random numbers are made of, with its place and DRAWS.
SEED = 14
STATE = 15

# --- Columns of ``numbers``: int32[n, NUMBERS] ------------------------------------------------------------------

#: The side to move: 1 is White, 0 is Black, as in python-chess.
COLOR = 0
#: One of the phases below.
PHASE = 1
#: The square that a pawn has just passed over; NONE if there is none.
EN_PASSANT = 2
#: Half-moves since the last capture or pawn move, and the full-move number, as in a FEN.
HALFMOVES = 3
FULLMOVES = 4
#: Completed turns of both players.
PLY = 5
#: The square on which the opponent's last turn captured; NONE if nothing.
LOST = 6
#: The square sensed in this turn: 64 for a pass, NONE before the sense.
SENSED = 7
#: How the game ended: a value of ``gm_recon.WinReason``, 0 while it goes on; and the winner's colour, NONE for a draw.
REASON = 8
WINNER = 9
#: Games that were finished and replaced by a new one in this place.
EPISODE = 10
NUMBERS = 11

#: The phases of a game. A game that was reset lets the rest of that turn pass (RESTING).
TO_SENSE, TO_MOVE, OVER, RESTING = range(4)

NONE = -1

# --- Actions ----------------------------------------------------------------------------------------------------

#: The squares that a player may sense, and a pass.
SENSES = 65
SENSE_PASS = 64
#: The move planes: 56 of a queen's moves (eight directions clockwise from the north, one to seven steps each), 8 of a
#: knight's (clockwise from the north-north-east), 9 of promotions to knight, bishop and rook (to the north-west, north
#: and north-east each). A move's number is ``64 * plane + source``; a pawn's queen move to the last rank makes a queen.
PLANES = 73
PASS = 64 * PLANES
MOVES = PASS + 1
#: In place of an action: leave this game as it is.
SKIP = -1

# --- Records: uint64[n, capacity, 2], one row for each completed turn -------------------------------------------

#: The first word: the square sensed (64: pass), the square of the capture (64: none), the move requested and the move
#: made (PASS: none), by the lowest bit of each.
SENSE_BIT, CAPTURE_BIT, REQUESTED_BIT, TAKEN_BIT = 0, 7, 14, 27
SQUARE_BITS = np.uint64(127)
MOVE_BITS = np.uint64(8191)
#: The second word: the nine cells of the sense, four bits each, from the lowest square of the window: 0 is an empty
#: square, 1 to 6 an own piece, 7 to 12 an opponent's, OFF_BOARD no square.
OFF_BOARD = 15
#: The second word of a turn without a sense.
UNSEEN = np.uint64((1 << 36) - 1)
