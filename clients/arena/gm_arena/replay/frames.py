"""A game as frames, what is shown after each action, and their text: three blind boards fit eighty columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import chess
from chess import Color, Move, Piece, Square, SquareSet
from rich.text import Text

from gm_recon import History, ReconBoard, Replayed, Turn
from gm_recon.pgn import san
from gmd.games.variants import VARIANTS

from ..board_drawing import BOARD_COLUMNS, Palette, Picture, board_lines, clock_text, printable, squares_of
from .recorded import Clocks, Recorded

#: A command to programs in a comment, such as [%clk 0:10:00].
_COMMAND = re.compile(r"\[%[^\]]*\]")

#: The gap between two boards.
GAP = " "


@dataclass
class View:
    """A board as one side sees it.

    :ivar seen: squares that are known, in a view that does not show everything; the contents of others are not.
    :ivar marked: squares that the frame is about.
    :ivar checked: the square of a king in check.
    """

    title: str
    pieces: dict[Square, Piece]
    seen: SquareSet = field(default_factory=lambda: SquareSet(chess.BB_ALL))
    marked: SquareSet = field(default_factory=SquareSet)
    checked: SquareSet = field(default_factory=SquareSet)

    def picture(self) -> Picture:
        """Return the view in the form that is drawn."""
        return Picture(self.pieces, self.marked, self.checked, self.seen)


@dataclass
class Frame:
    """The boards at one moment, and a line about it.

    :ivar clocks: the seconds that the sides have left, where known.
    """

    caption: str
    views: list[View]
    clocks: dict[Color, float] = field(default_factory=dict)


def frames_of(game: Recorded) -> list[Frame]:
    """Return the start position, and a frame for every move, and in blind chess for every sense."""
    frames = list(_open_frames(game) if game.history is None else _blind_frames(game.history, game.clocks))
    if game.bad_move:
        frames[-1].caption += f"  [{game.bad_move}]"
    elif game.ending or game.result != "*":
        frames[-1].caption += f"  [{game.result} {game.ending}]".replace(" ]", "]")
    return frames


def _open_frames(game: Recorded) -> Iterator[Frame]:
    board, clocks = game.start.copy(), dict[Color, float]()
    yield Frame("start position", [_open_view(board, None)])
    for (move, comment), left in zip_longest(game.moves, game.left[: len(game.moves)]):
        number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
        said = " ".join(_COMMAND.sub("", comment).split())
        caption = f"{number} {board.san(move)}" + (f"  {{{said}}}" if said else "")
        if left is not None:
            clocks[board.turn] = left
        board.push(move)
        yield Frame(caption, [_open_view(board, move)], dict(clocks))


def _open_view(board: chess.Board, move: Move | None) -> View:
    king = board.king(board.turn) if board.is_check() else None
    checked = SquareSet() if king is None else SquareSet([king])
    return View("", board.piece_map(), marked=squares_of(move), checked=checked)


class _Players:
    """The knowledge of both players: their own pieces, and the results of their latest senses."""

    def __init__(self) -> None:
        self.last: dict[Color, dict[Square, Piece | None]] = {chess.WHITE: {}, chess.BLACK: {}}

    def view(self, color: Color, pieces: dict[Square, Piece]) -> View:
        """Return the board as a player knows it; the result of a sense stays until the player's next."""
        own = {square: piece for square, piece in pieces.items() if piece.color == color}
        shown = {square: piece for square, piece in self.last[color].items() if piece is not None}
        others = {square: piece for square, piece in shown.items() if piece.color != color}
        return View(_name(color), others | own, SquareSet([*self.last[color], *own]))

    def views(self, board: ReconBoard) -> list[View]:
        """Return White's view, the true board, and Black's view."""
        pieces = board.as_chess().piece_map()
        return [self.view(chess.WHITE, pieces), View("the truth", pieces), self.view(chess.BLACK, pieces)]


def _blind_frames(history: History, read: Sequence[Clocks] | None) -> Iterator[Frame]:
    board, players, clocks = ReconBoard(history.start_fen), _Players(), dict[Color, float]()
    yield Frame("start position", players.views(board))
    for replayed, turn in zip_longest(history.replay(), (read or [])[: len(history.turns)]):
        mover = board.turn
        for index, frame in enumerate((_sense_frame, _move_frame)):
            if turn is not None:
                clocks[mover] = turn[index]
            made = frame(board, players, replayed)
            made.clocks = dict(clocks)
            yield made
    for square in history.unfinished:
        seen = [] if square is None else board.window(square)
        yield _frame_of_sense(board, players, square, seen)


def _sense_frame(board: ReconBoard, players: _Players, replayed: Replayed) -> Frame:
    return _frame_of_sense(board, players, replayed.turn.sense, replayed.sense_result)


def _frame_of_sense(
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
    done = _what_was_done(board, turn)
    board.push(turn.taken, turn.capture_square)
    views = players.views(board)
    views[1].marked = views[0 if color else 2].marked = squares_of(turn.taken)
    if turn.capture_square is not None:  # all that the other player learns
        views[2 if color else 0].marked = SquareSet([turn.capture_square])
    return Frame(f"{when} {done}", views)


def _when(board: ReconBoard) -> str:
    return f"{board.fullmoves}{'.' if board.turn else '...'} {_name(board.turn)}"


def _what_was_done(board: ReconBoard, turn: Turn) -> str:
    """Return a move in words, with SAN of the true board: the request, and the result."""
    if turn.requested is None:
        return "passes"
    capture = "" if turn.capture_square is None else f", and captures on {chess.SQUARE_NAMES[turn.capture_square]}"
    if turn.taken == turn.requested:
        return f"moves {san(board, turn.taken)}{capture}"
    comes = "nothing moves" if turn.taken is None else f"moves {san(board, turn.taken)}"
    return f"asks for {san(board, turn.requested)}: {comes}{capture}"


def _name(color: Color) -> str:
    return "White" if color else "Black"


def header(game: Recorded) -> list[str]:
    """Return the lines above a game: its players, result, variant and clock."""
    state = f"{game.result} {game.ending}".strip() if game.ending or game.result != "*" else "in progress"
    variant = VARIANTS[game.variant].title if game.variant in VARIANTS else game.variant
    parts = [state, variant, f"clock {game.clock}" if game.clock else ""]
    return [
        printable(f"{game.where}: {game.white} – {game.black}"),
        printable(", ".join(part for part in parts if part)),
    ]


def frame_text(frame: Frame, palette: Palette | None = None) -> Text:
    """Return a frame as text: its boards, and the line about it.

    :param palette: the colours of the terminal; None for letters.
    """
    lines = []
    if any(view.title for view in frame.views):
        lines.append(Text(GAP.join(f"  {view.title:^{BOARD_COLUMNS - 2}}" for view in frame.views).rstrip()))
    boards = [board_lines(view.picture(), palette) for view in frame.views]
    lines += [Text(GAP).join(ranks) for ranks in zip(*boards, strict=True)]
    if frame.clocks:
        lines.append(Text(clocks_text(frame.clocks)))
    lines.append(Text(printable(frame.caption), "bold"))
    text = Text("\n").join(lines)
    text.no_wrap = True  # on a terminal that is too narrow, boards are cut off rather than broken
    return text


def clocks_text(clocks: dict[chess.Color, float]) -> str:
    """Return what both sides have left on their clocks."""
    return "   ".join(
        f"{'White' if color else 'Black'} {clock_text(clocks[color])}" for color in chess.COLORS if color in clocks
    )
