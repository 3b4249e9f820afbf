"""A game as frames, what is shown after each action, and their text: three blind boards fit eighty columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import chess
from chess import Color, Piece, Square, SquareSet
from rich.text import Text

from gm_recon import History, ReconBoard, Turn
from gm_recon.pgn import san
from gmd.games.variants import VARIANTS

from ..board_drawing import BOARD_COLUMNS, Palette, Picture, board_lines, clock_text, picture_of, printable, squares_of
from .recorded import Recorded

#: A command to programs in a comment, such as [%clk 0:10:00].
_COMMAND = re.compile(r"\[%[^\]]*\]")

#: The gap between two boards.
GAP = " "


@dataclass
class Frame:
    """The boards at one moment, and a line about it.

    :ivar clocks: the seconds that the sides have left, where known.
    """

    caption: str
    views: list[Picture]
    clocks: dict[Color, float] = field(default_factory=dict)


def frames_of(game: Recorded) -> list[Frame]:
    """Return the start position, and a frame for every move, and in blind chess for every sense."""
    frames = list(_open_frames(game) if game.history is None else _blind_frames(game.history))
    if game.bad_move:
        frames[-1].caption += f"  [{game.bad_move}]"
    elif game.ending or game.result != "*":
        frames[-1].caption += f"  [{game.result} {game.ending}]".replace(" ]", "]")
    return frames


def _open_frames(game: Recorded) -> Iterator[Frame]:
    board, clocks = game.start.copy(), dict[Color, float]()
    yield Frame("start position", [picture_of(board)])
    for node in game.moves:
        number = f"{board.fullmove_number}{'.' if board.turn else '...'}"
        said = " ".join(_COMMAND.sub("", node.comment).split())
        caption = f"{number} {board.san(node.move)}" + (f"  {{{said}}}" if said else "")
        if (left := node.clock()) is not None:
            clocks[board.turn] = left
        board.push(node.move)
        yield Frame(caption, [picture_of(board)], dict(clocks))


class _Players:
    """The knowledge of both players: their own pieces, and the results of their latest senses."""

    def __init__(self) -> None:
        self.last: dict[Color, dict[Square, Piece | None]] = {chess.WHITE: {}, chess.BLACK: {}}

    def view(self, color: Color, pieces: dict[Square, Piece]) -> Picture:
        """Return the board as a player knows it; the result of a sense stays until the player's next."""
        own = {square: piece for square, piece in pieces.items() if piece.color == color}
        shown = {square: piece for square, piece in self.last[color].items() if piece is not None}
        others = {square: piece for square, piece in shown.items() if piece.color != color}
        return Picture(others | own, known=SquareSet([*self.last[color], *own]), title=_name(color))

    def views(self, board: ReconBoard) -> list[Picture]:
        """Return White's view, the true board, and Black's view."""
        pieces = board.as_chess().piece_map()
        return [self.view(chess.WHITE, pieces), Picture(pieces, title="the truth"), self.view(chess.BLACK, pieces)]


def _blind_frames(history: History) -> Iterator[Frame]:
    board, players = ReconBoard(history.start_fen), _Players()
    yield Frame("start position", players.views(board))
    for replayed in history.replay():
        yield _sense_frame(board, players, replayed.turn.sense, replayed.sense_result)
        yield _move_frame(board, players, replayed.turn)
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


def _move_frame(board: ReconBoard, players: _Players, turn: Turn) -> Frame:
    when, color = _when(board), board.turn
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
    boards = [board_lines(view, palette) for view in frame.views]
    lines += [Text(GAP).join(ranks) for ranks in zip(*boards, strict=True)]
    if frame.clocks:
        left = [f"{_name(color)} {clock_text(frame.clocks[color])}" for color in sorted(frame.clocks, reverse=True)]
        lines.append(Text("   ".join(left)))
    lines.append(Text(printable(frame.caption), "bold"))
    text = Text("\n").join(lines)
    text.no_wrap = True  # on a terminal that is too narrow, boards are cut off rather than broken
    return text
