"""Every position that is still possible: exactly what a player of reconnaissance blind chess can know.

A player knows its own pieces. So positions differ only in the opponent's pieces, and a set of those is all that is
followed (:mod:`gm_recon.position_sets`). The default one stores each as one integer, in which a move is one XOR and a
sense one AND (:mod:`gm_recon.side_moves`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator

import chess
from chess import BB_SQUARES, Board, Color, Move, Piece, Square

from .board import ReconBoard
from .position_sets import Evidence, OpponentMove, PositionSet, PythonPositions, Rng, finish
from .side_moves import EP, EP_SHIFT, RIGHTS, at, column, lanes, put, rook_right
from .tables import Cell

#: The squares with a complete window. Each shows everything that a window clipped at an edge shows, and more.
SENSE_SQUARES = [chess.square(file, rank) for rank in range(1, 7) for file in range(1, 7)]

#: The squares that a sense of each square shows, as bitboards.
WINDOWS = [chess.BB_KING_ATTACKS[square] | BB_SQUARES[square] for square in chess.SQUARES]

#: The default number of positions kept. In one of the 300 long games of the tests, which allow two million, more
#: remained after a sense.
CAP = 500_000
#: Positions used to choose a sense: enough to tell a good one from a bad one.
SAMPLE = 1_000


class PossiblePositions:
    """The possible positions, given everything that the player has observed.

    In each turn call :meth:`opponent_moved` (not in the first turn of the game), then :meth:`saw`, then
    :meth:`player_moved`. Each has a form in steps of less than a millisecond, for a process with other work to do::

        yield from positions.opponent_moved_steps(capture)

    Two positions are equal if the pieces, the castling rights and the possible en passant captures are. The half-move
    clock does not count. So a position is possible even if it can be reached only by games that the rule of reversible
    moves would have ended: where that limit is near, :attr:`complete` means that no possible position is missing, but
    some may be there in which the game would be over.

    **Cost.** The opponent's move takes about a microsecond for each resulting position, of which there are some 20 for
    each before if it captured nothing. A sense takes some 0.1 microseconds for each position, and the player's own move
    at most one. A position takes some 150 bytes. With ``backend=gm_env.CompiledPositions`` all of it is some ten times
    as fast, and a position takes 32 bytes; but a step of a large set may then take more than a millisecond.

    **The cap.** If a move of the opponent leads to more than ``cap`` positions, the tracker keeps a random sample of
    ``cap`` of them for the time being, and the positions before the move: :attr:`complete` is false, and answers about
    positions are answers about the sample. The next sense generates all of them again, in the same time, and keeps
    those that agree with it; if they are no more than ``cap``, the tracker is complete again. At most three times
    ``cap`` are held meanwhile. So the true position is always among those kept after a sense, unless more than ``cap``
    are possible then. In that case it may be dropped, and :attr:`complete` stays false. Later observations then rule
    out all others sooner or later, and the tracker is :attr:`lost`: it has no positions, and continues without an
    error.

    Between players who move at random and sense by :meth:`best_sense`, some fifty positions remain after a sense, and
    some twenty times as many precede it. In 300 games of 80 half-turns the maximum was 740,000 in one game and 270,000
    in all others: with a cap of two million the true position was always among them, with the default in all games
    except perhaps that one. A player who does not sense exceeds any cap.

    :ivar color: the player's colour.
    """

    def __init__(
        self,
        color: Color,
        fen: str = chess.STARTING_FEN,
        *,
        cap: int = CAP,
        sample_cap: int | None = None,
        rng: Rng,
        backend: type[PositionSet] = PythonPositions,
    ) -> None:
        """:param fen: the start position of the game, which both players know.
        :param sample_cap: the cap once the true position may have been dropped; None for the same one.
        :param rng: decides which positions are dropped, and which are drawn by :meth:`sample`.
        :param backend: what keeps the positions. ``gm_env.CompiledPositions`` is faster, and needs numba.
        :raises ValueError: the FEN cannot be read, or is not a possible start position.
        """
        board = ReconBoard(fen).as_chess()
        self.color = color
        self._complete_cap, self._sample_cap, self._rng = cap, cap if sample_cap is None else sample_cap, rng
        self._most_of_a_sample = self._sample_cap
        self._turn, self._ply = board.turn, 0
        self._own = board.copy(stack=False)
        self._own.castling_rights &= _home_rank(color)
        for square in chess.scan_forward(board.occupied_co[not color]):
            self._own.remove_piece_at(square)
        if board.turn == color:
            self._own.ep_square = None
        self._positions: PositionSet = backend.gathered(not color, [self.part_of(board, color)])
        self._before: tuple[PositionSet, OpponentMove] | None = None  # where they come from, if some were left out
        self._has_truth = True  # the true position is among these, or follows from those before

    # --- Queries ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self._positions)

    @property
    def complete(self) -> bool:
        """Whether all possible positions are kept, including the true one."""
        return self._has_truth and self._before is None

    @property
    def lost(self) -> bool:
        """Whether no positions remain, because the true one was dropped when there were too many."""
        return not len(self._positions)

    @property
    def own(self) -> Board:
        """The player's own pieces and castling rights, and the square that its pawn has just passed; a copy."""
        return self._own.copy(stack=False)

    def __iter__(self) -> Iterator[Board]:
        """Yield the positions as independent boards."""
        return map(self._board, self._positions)

    def __contains__(self, board: object) -> bool:
        """Return whether a position is possible."""
        return isinstance(board, Board) and self._fits(board) and self.part_of(board, self.color) in self._positions

    def sample(self, count: int) -> list[Board]:
        """Return this many positions drawn at random, or all if there are fewer."""
        return self.boards(self.draw(count))

    def boards(self, positions: Iterable[int]) -> list[Board]:
        """Return some of the positions of such a set as independent boards."""
        return [self._board(position) for position in positions]

    def pieces_at(self, square: Square) -> Counter[Piece | None]:
        """Count the pieces that may stand on a square, by the number of positions."""
        if self._own.occupied & BB_SQUARES[square]:
            return Counter({self._own.piece_at(square): len(self)})
        counts = self._positions.counts_at(square)
        pieces: dict[Piece | None, int] = {None: len(self) - sum(counts)}
        for piece_type, count in zip(chess.PIECE_TYPES, counts, strict=True):
            pieces[Piece(piece_type, not self.color)] = count
        return Counter({piece: count for piece, count in pieces.items() if count})

    def occupied(self) -> chess.Bitboard:
        """Return the squares on which a piece of the opponent may stand."""
        return self._positions.occupied()

    def expected_after(self, square: Square) -> float:
        """Return the expected number of positions after a sense of a square, estimated from a thousand positions."""
        drawn = self.draw(SAMPLE)
        return len(self) * drawn.pairs_alike([WINDOWS[square]])[0] / max(1, len(drawn)) ** 2

    def best_sense(self) -> Square:
        """Return the square whose sense leaves the fewest positions; any square if lost. Takes milliseconds."""
        drawn = self.draw(SAMPLE)
        if not len(drawn):
            return self._rng.choice(SENSE_SQUARES)
        pairs = drawn.pairs_alike([WINDOWS[square] for square in SENSE_SQUARES])
        return SENSE_SQUARES[pairs.index(min(pairs))]

    def draw(self, count: int) -> PositionSet:
        """Return this many positions drawn at random, or all if there are fewer, as the set that they are kept in."""
        return self._positions if count >= len(self) else self._positions.drawn(count, self._rng)

    def limit(self, cap: int) -> None:
        """Keep at most so many positions from the next observation on, as if this were the cap given at first."""
        self._complete_cap, self._sample_cap = cap, min(cap, self._most_of_a_sample)

    # --- Observations --------------------------------------------------------------------------------------------

    def opponent_moved(self, capture: Square | None) -> None:
        """Record the opponent's turn, with the square it captured on, or None.

        :raises ValueError: this contradicts earlier observations.
        """
        finish(self.opponent_moved_steps(capture))

    def saw(self, cells: Iterable[Cell]) -> None:
        """Record squares that the player has seen, and the pieces on them.

        :raises ValueError: this contradicts earlier observations.
        """
        finish(self.saw_steps(cells))

    def player_moved(self, requested: Move | None, taken: Move | None, capture: Square | None) -> None:
        """Record the player's move as requested and as made. The game goes on: no king was captured.

        :raises ValueError: this contradicts earlier observations.
        """
        finish(self.player_moved_steps(requested, taken, capture))

    def opponent_moved_steps(self, capture: Square | None) -> Generator[None, None, None]:
        """Do the work of :meth:`opponent_moved` in steps."""
        own = self._own
        move = OpponentMove(not self.color, own.occupied, own.pawns, own.ep_square, capture)
        positions, are_all = yield from self._positions.moved_steps(move, Evidence(), self._cap, self._rng)
        self._check(positions)
        if capture is not None:
            own.remove_piece_at(capture)
            own.castling_rights &= ~BB_SQUARES[capture]
        own.ep_square = None
        own.fullmove_number += self.color  # Black has moved; after the player's own moves python-chess counts
        self._before = None if are_all else (self._positions, move)
        self._positions = positions
        self._turn, self._ply = self.color, self._ply + 1

    def saw_steps(self, cells: Iterable[Cell]) -> Generator[None, None, None]:
        """Do the work of :meth:`saw` in steps."""
        mask = expected = 0
        for square, piece in cells:
            mask |= column(square)
            if piece is not None and piece.color != self.color:
                expected |= at(piece.piece_type, square)
        yield from self._keep(Evidence(mask, expected))

    def player_moved_steps(
        self, requested: Move | None, taken: Move | None, capture: Square | None
    ) -> Generator[None, None, None]:
        """Do the work of :meth:`player_moved` in steps."""
        free, held = (0, 0) if requested is None else self._revealed_by(requested, taken, capture)
        yield from self._keep(Evidence(mask=free, some=held))
        gone = EP
        if capture is not None:
            gone |= column(capture) | rook_right(not self.color, capture)
        self._positions = yield from self._positions.without_steps(gone)
        self._own.turn = self.color
        self._own.push(taken or Move.null())
        self._own.clear_stack()
        self._turn, self._ply = not self.color, self._ply + 1

    def _revealed_by(self, requested: Move, taken: Move | None, capture: Square | None) -> tuple[int, int]:
        """Return what a move's result reveals: the opponent's bits that are all clear, and bits of which one is set."""
        source, wanted = requested.from_square, requested.to_square
        piece_type = self._own.piece_type_at(source)
        if piece_type == chess.KING and chess.square_distance(source, wanted) > 1:
            rook = wanted + 1 if wanted > source else wanted - 2
            between = chess.between(source, rook)
            return (0, between) if taken is None else (between, 0)
        if piece_type == chess.PAWN:
            return self._revealed_by_pawn(requested, taken, capture)
        assert taken is not None, "only castling and pawns can be refused"
        path = chess.between(source, taken.to_square)
        return _landing(path, taken.to_square, capture)

    def _revealed_by_pawn(self, requested: Move, taken: Move | None, capture: Square | None) -> tuple[int, int]:
        source, wanted = requested.from_square, requested.to_square
        target = BB_SQUARES[wanted]
        if chess.square_file(source) != chess.square_file(wanted):
            passed = 1 << EP_SHIFT + chess.square_file(wanted)
            if chess.square_rank(wanted) != (5 if self.color else 2):
                passed = 0
            if taken is None:
                return target | passed, 0
            return _landing(0, wanted, capture) if capture == wanted else (target, passed)
        path = chess.between(source, wanted) | target
        if taken is None:
            return 0, path & ~target or target
        if taken.to_square != wanted:
            return path & ~target, target
        return path, 0

    # --- Updates ------------------------------------------------------------------------------------------------

    def _keep(self, evidence: Evidence) -> Generator[None, None, None]:
        """Keep the positions that fit. If some were left out, generate all again: now there may be room.

        :raises ValueError: none fits, although the true one was among them.
        """
        if self._before is None:
            positions, are_all = (yield from self._positions.fitting_steps(evidence)), True
        else:
            before, move = self._before
            positions, are_all = yield from before.moved_steps(move, evidence, self._cap, self._rng)
        self._check(positions)
        self._positions, self._before = positions, None
        self._has_truth = self._has_truth and are_all

    @property
    def _cap(self) -> int:
        """The most positions that are kept at present."""
        return self._complete_cap if self._has_truth else self._sample_cap

    def _check(self, positions: PositionSet) -> None:
        if not len(positions) and self._has_truth:
            raise ValueError("no position is possible any more: the observations do not belong to one game")

    # --- Positions and boards -----------------------------------------------------------------------------------

    def _board(self, position: int) -> Board:
        """Return a position with everything that the player knows."""
        board = self._own.copy(stack=False)
        put(board, position, not self.color)
        for square in chess.scan_forward(chess.BB_CORNERS & ~_home_rank(self.color)):
            if position & rook_right(not self.color, square):
                board.castling_rights |= BB_SQUARES[square]
        if position & EP:
            file = (position >> EP_SHIFT).bit_length() - 1
            board.ep_square = chess.square(file, 5 if self.color else 2)
        board.turn = self._turn
        return board

    @staticmethod
    def part_of(board: Board, color: Color) -> int:
        """Return the opponent's part of a board: a position, as the sets keep it.

        :param color: the player's.
        """
        position = lanes(board, not color)
        square = board.ep_square
        if board.turn == color and square is not None:
            able = chess.BB_PAWN_ATTACKS[not color][square] & board.pawns & board.occupied_co[color]
            position |= 1 << EP_SHIFT + chess.square_file(square) if able else 0
        return position

    def _fits(self, board: Board) -> bool:
        """Return whether the player's own part of a board equals the present one."""
        rights = board.castling_rights & _home_rank(self.color)
        own = self._own
        return (
            board.turn == self._turn
            and rights == own.castling_rights
            and lanes(board, self.color) & ~RIGHTS == lanes(own, self.color) & ~RIGHTS
        )


def _home_rank(color: Color) -> chess.Bitboard:
    return chess.BB_RANK_1 if color else chess.BB_RANK_8


def _landing(path: chess.Bitboard, target: Square, capture: Square | None) -> tuple[int, int]:
    """Return what a piece reveals that passes free squares and captures on its target, or finds it free."""
    if capture is None:
        return path | BB_SQUARES[target], 0
    return path | 1 << 64 * chess.KING + target, BB_SQUARES[target]
