"""``/rules``: blind chess and Dark chess with pictures. ``/help``: how to play, to watch and to connect a bot."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import chess
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter
from litestar.response import Template

from gmd.http.pages.answers import SVG, file
from gmd.http.pages.drawing import Picture, draw
from gmd.http.pages.picture_view import in_the_dark
from gmd.http.pages.rendering import page
from gmd.http.pages.replay import Position
from gmd.http.pages.visit import FromVisit

#: The size of the pictures in pixels.
SIZE = 360
#: After 1. e4 d5 2. Nc3: the truth, and Black's king's pawn that White does not know of.
_GAME = "rnbqkbnr/ppp1pppp/8/3p4/4P3/2N5/PPPP1PPP/R1BQKBNR"
#: The same after White has asked for Bf1-a6 while Black's pawn is on b5.
_STOPPED = "rnbqkbnr/p1p1pppp/8/1B1p4/4P3/2N5/PPPP1PPP/R1BQK1NR"
#: The centre of the sense.
_SENSED = chess.D5
#: A position of Dark chess, White to move.
_DARK = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"


def _seen_by_white(placement: str, window: frozenset[int]) -> Picture:
    """Return what White sees of a position: its own pieces, and what stands in the window."""
    board = chess.BaseBoard(placement)
    seen = window | frozenset(chess.SquareSet(board.occupied_co[chess.WHITE]))
    for square in set(chess.SQUARES) - seen:
        board.remove_piece_at(square)
    return Picture(board.board_fen(), window=window, unseen=frozenset(chess.SQUARES) - seen)


@cache
def pictures() -> dict[str, bytes]:
    """Return the pictures by their names."""
    window = frozenset(square for square in chess.SQUARES if chess.square_distance(square, _SENSED) <= 1)
    shown = {
        "before": _seen_by_white(_GAME, frozenset()),
        "sensed": _seen_by_white(_GAME, window),
        "stopped": Picture(_STOPPED, last_move="f1b5"),
        "truth": Picture(_DARK.split()[0]),
        "dark": in_the_dark(Position(_DARK), chess.WHITE, shows_move=False),
    }
    return {name: draw(picture, size=SIZE).encode() for name, picture in shown.items()}


@get("/rules", include_in_schema=False)
async def rules(visit: FromVisit) -> Template:
    """Return the page with the rules."""
    return page(visit, "rules.html", size=SIZE)


@get("/rules/{name:str}", include_in_schema=False)
async def picture(
    request: Request[Any, Any, Any], visit: FromVisit, name: Annotated[str, PathParameter()]
) -> Response[Any]:
    """Return a picture of the rules, as in ``/rules/sensed.svg``."""
    found = pictures().get(name.removesuffix(".svg")) if name.endswith(".svg") else None
    if found is None:
        raise NotFoundException
    return file(request, found, SVG, over=True)


@get("/help", include_in_schema=False)
async def help_page(visit: FromVisit) -> Template:
    """Return the page that says how to play, to watch and to connect a bot."""
    return page(visit, "help.html")
