"""A game in frames: what is to be seen after each thing that was done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import chess
from chess import Color, Move, Piece, Square, SquareSet

from gmd.games.recon import History, ReconBoard, Replayed, Turn

from .recorded import Recorded


@dataclass
class View:
    """A board as somebody sees it.

    :ivar seen: squares that are known, in a view that does not show everything; what stands elsewhere is not.
    :ivar marked: squares that the frame is about.
    """

    title: str
    pieces: dict[Square, Piece]
    seen: SquareSet = field(default_factory=lambda: SquareSet(chess.BB_ALL))
    marked: SquareSet = field(default_factory=SquareSet)


@dataclass
class Frame:
    """What is to be seen at one moment, and a line about it."""

    caption: str
    views: list[View]


def frames_of(game: Recorded) -> list[Frame]:
    """The start position, and a frame for every move, and in blind chess for every sense."""
    frames = list(_blind_frames(game.history) if game.history is not None else _open_frames(game))
    if game.ending or game.result != "*":
        frames[-1].caption += f"  [{game.result} {game.ending}]".replace(" ]", "]")
    return frames


def _open_frames(game: Recorded) -> Iterator[Frame]:
    board = game.start.copy()
    yield Frame("start position", [View("", board.piece_map())])
    for move, comment in game.moves:
        number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
        caption = f"{number} {board.san(move)}" + (f"  {{{' '.join(comment.split())}}}" if comment else "")
        board.push(move)
        yield Frame(caption, [View("", board.piece_map(), marked=_squares_of(move))])


def _squares_of(move: Move | None) -> SquareSet:
    if move is None:
        return SquareSet()
    return SquareSet([move.to_square] if move.drop else [move.from_square, move.to_square])


class _Players:
    """What both players know: their own pieces, and what their latest senses have shown."""

    def __init__(self) -> None:
        self.last: dict[Color, dict[Square, Piece | None]] = {chess.WHITE: {}, chess.BLACK: {}}

    def view(self, color: Color, pieces: dict[Square, Piece]) -> View:
        """The board as a player knows it; what a sense has shown stands there until the player's next."""
        own = {square: piece for square, piece in pieces.items() if piece.color == color}
        shown = {square: piece for square, piece in self.last[color].items() if piece is not None}
        others = {square: piece for square, piece in shown.items() if piece.color != color}
        return View(_name(color), others | own, SquareSet([*self.last[color], *own]))

    def views(self, board: ReconBoard) -> list[View]:
        """White's, the truth, Black's."""
        pieces = board.as_chess().piece_map()
        return [self.view(chess.WHITE, pieces), View("the truth", pieces), self.view(chess.BLACK, pieces)]


def _blind_frames(history: History) -> Iterator[Frame]:
    board, players = ReconBoard(history.start_fen), _Players()
    yield Frame("start position", players.views(board))
    for replayed in history.replay():
        yield _sense_frame(board, players, replayed.turn.sense, replayed.sense_result)
        yield _move_frame(board, players, replayed)
    for square in history.unfinished:
        seen = [] if square is None else board.window(square)
        yield _sense_frame(board, players, square, seen)


def _sense_frame(
    board: ReconBoard, players: _Players, square: Square | None, seen: list[tuple[Square, Piece | None]]
) -> Frame:
    players.last[board.turn] = dict(seen)
    views = players.views(board)
    window = SquareSet(square for square, _ in seen)
    views[1].marked = views[0 if board.turn else 2].marked = window
    what = "nothing" if square is None else chess.SQUARE_NAMES[square]
    return Frame(f"{_when(board)} senses {what}", views)


def _move_frame(board: ReconBoard, players: _Players, replayed: Replayed) -> Frame:
    when, color, turn = _when(board), board.turn, replayed.turn
    board.push(turn.taken, turn.capture_square)
    views = players.views(board)
    views[1].marked = views[0 if color else 2].marked = _squares_of(turn.taken)
    if turn.capture_square is not None:  # which is all that the other player is told
        views[2 if color else 0].marked = SquareSet([turn.capture_square])
    return Frame(f"{when} {_what_was_done(turn)}", views)


def _when(board: ReconBoard) -> str:
    return f"{board.fullmoves}{'.' if board.turn else '...'} {_name(board.turn)}"


def _what_was_done(turn: Turn) -> str:
    """A move in words: what was asked for, and what came of it."""
    if turn.requested is None:
        return "passes"
    capture = "" if turn.capture_square is None else f", and captures on {chess.SQUARE_NAMES[turn.capture_square]}"
    if turn.taken == turn.requested:
        return f"moves {turn.requested.uci()}{capture}"
    comes = "nothing moves" if turn.taken is None else f"moves {turn.taken.uci()}"
    return f"asks for {turn.requested.uci()}: {comes}{capture}"


def _name(color: Color) -> str:
    return "White" if color else "Black"
