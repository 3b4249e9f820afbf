"""What a picture of a game shows: of a ply, for a view."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Literal

import chess

from gm_protocol.state import LastSense, side_of
from gmd.games.dark import DarkBoard, visible_squares
from gmd.http.pages.counting import Kind, Known
from gmd.http.pages.drawing import Picture
from gmd.http.pages.looking import Look
from gmd.http.pages.memory import Memory, Sight
from gmd.http.pages.replay import Position, RecordedSense, begins, placement_of, position_steps

#: The views of a finished game that had hidden something: everything, or what one side saw.
View = Literal["truth", "white", "black"]
VIEWS: tuple[View, ...] = ("truth", "white", "black")


def side_of_view(view: View | None) -> chess.Color | None:
    """Return the side of a view; None for the truth."""
    return None if view is None or view == "truth" else side_of(view)


def needs_past(look: Look, ply: int) -> bool:
    """Return whether the game's history is needed to show a ply."""
    is_past = ply != look.state.ply_index
    return not look.hides and (is_past or (look.over and look.variant.senses))


def shaded(picture: Picture, known: Known | None, kind: Kind | None) -> Picture:
    """Return the picture of a side's view with what it could know of the pieces of a kind, if it is to be shown."""
    return picture if known is None or kind is None else replace(picture, shares=known.shares(kind))


def picture_steps(look: Look, ply: int, view: View | None) -> Generator[None, None, Picture]:
    """Return the picture of a ply, in steps.

    :param ply: one that :meth:`.Look.ply` has returned.
    :param view: in a finished game that had hidden something the view to show. Otherwise there is one view only.
    """
    return picture_of(look, ply, view, (yield from present_or_past(look, ply)))


def picture_of(look: Look, ply: int, view: View | None, position: Position) -> Picture:
    """Return the picture of a ply.

    :param position: what :func:`present_or_past` returns for the ply.
    """
    side = side_of_view(view)
    if (recon := look.recon) is not None:
        return seen(recon.seen(ply, side))
    if look.hides:
        return _hidden(look)
    if look.has_views and side is not None:
        moved = begins(look.state.start_fen) == bool(ply % 2)
        return in_the_dark(position, side, shows_move=moved == side)
    return Picture(placement_of(position.fen), position.last_move, position.check)


def board_data(picture: Picture, *, flip: bool) -> dict[str, object]:
    """Return what a script needs to draw a board. The names are those of live positions."""
    return {
        "placement": picture.placement,
        "last_move": picture.last_move,
        "check": None if picture.check is None else chess.SQUARE_NAMES[picture.check],
        "window": [chess.SQUARE_NAMES[square] for square in sorted(picture.window)],
        "unseen": [chess.SQUARE_NAMES[square] for square in sorted(picture.unseen)],
        "lost": None if picture.lost is None else chess.SQUARE_NAMES[picture.lost],
        "remembered": [(chess.SQUARE_NAMES[square], symbol, age) for square, symbol, age in picture.remembered],
        "shares": None if picture.shares is None else [round(share, 4) for share in picture.shares],
        "orientation": "black" if flip else "white",
    }


def present_or_past(look: Look, ply: int) -> Generator[None, None, Position]:
    """Return the position of a ply, in steps, as the visitor may see it."""
    state = look.state
    if (recon := look.recon) is not None:
        return recon.position(ply)
    if ply == state.ply_index or look.past is None:
        king = chess.BaseBoard(placement_of(state.fen)).king(side_of(state.turn)) if state.in_check else None
        return Position(state.fen, state.last_move, king)
    return (yield from position_steps(state.variant, state.start_fen, look.past.moves, ply))


def last_sense(look: Look) -> RecordedSense | None:
    """Return the latest sense of the visitor's seat in a game in progress; None for none."""
    sense = look.state.last_sense
    if not isinstance(sense, LastSense):
        return None
    cells = [
        (chess.parse_square(name), None if piece is None else _symbol(piece)) for name, piece in sense.sense_result
    ]
    return RecordedSense(None if sense.square is None else chess.parse_square(sense.square), cells)


def sees_nothing(look: Look) -> bool:
    """Return whether the visitor sees no piece of a game that hides its pieces."""
    return look.hides and not any(map(str.isalpha, placement_of(look.state.fen)))


def _hidden(look: Look) -> Picture:
    """Return the picture of a game in progress that hides something: what its state shows to the visitor."""
    state, placement = look.state, placement_of(look.state.fen)
    if sees_nothing(look):
        return Picture(placement, unseen=frozenset(chess.SQUARES))
    if look.seat is not None and look.variant.senses:
        return seen(memory_of(look.seat, look).sight())
    unseen = frozenset[int]()
    if isinstance(state.visible, list) and look.seat is not None:
        unseen = frozenset(chess.SQUARES) - {chess.parse_square(name) for name in state.visible}
    return Picture(placement, state.last_move, unseen=unseen)


def memory_of(side: chess.Color, look: Look) -> Memory:
    """Return what a player of a game in progress knows."""
    memory = Memory(placement_of(look.state.start_fen), side, knows_all=True)
    memory.learn(look.observed)
    return memory


def seen(sight: Sight) -> Picture:
    """Return the picture of a board as somebody saw it."""
    return Picture(
        sight.placement,
        sight.last_move,
        window=sight.window,
        unseen=sight.unseen,
        lost=sight.lost,
        remembered=sight.remembered,
    )


def in_the_dark(position: Position, side: chess.Color, *, shows_move: bool) -> Picture:
    """Return what a side saw of a position of Dark chess.

    :param shows_move: whether the last move was the side's own.
    """
    board = DarkBoard(position.fen)
    visible = visible_squares(board, side)
    for square in chess.scan_forward(board.occupied & ~visible):
        board.remove_piece_at(square)
    last_move = position.last_move if shows_move else None
    return Picture(board.board_fen(), last_move, unseen=frozenset(chess.scan_forward(chess.BB_ALL & ~visible)))


def _symbol(piece: str) -> str:
    """Return python-chess's symbol of a piece of the protocol, such as ``wN``."""
    return piece[1].upper() if piece[0] == "w" else piece[1].lower()
