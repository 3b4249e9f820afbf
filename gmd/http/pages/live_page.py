"""The page of a game in progress: the board and, for a player, what it can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import chess
import msgspec
from litestar import Response
from litestar.status_codes import HTTP_200_OK
from markupsafe import Markup
from msgspec import structs

from gm_protocol.lobby import InvitationRow
from gm_protocol.state import Color, GameState
from gmd.games.notation import run_through
from gmd.http.pages.answers import IN_PROGRESS
from gmd.http.pages.drawing import draw
from gmd.http.pages.live_view import (
    LiveMove,
    LivePart,
    LiveView,
    live_view,
    moves_since,
    names_for,
    part_of,
    turns_since,
)
from gmd.http.pages.looking import Look
from gmd.http.pages.picture_view import picture_steps
from gmd.http.pages.queue import games_ahead
from gmd.http.pages.rendering import page
from gmd.http.pages.visit import Visit

#: The most invitations among which a game is looked for, and the most moves that the page lists.
INVITATIONS, MOVES = 100, 400
#: The size in pixels of the picture that the page comes with.
SIZE = 720
FILES = "abcdefgh"


@dataclass(frozen=True, slots=True)
class TypedMove:
    """What a visitor typed into a form that was refused, and why it was."""

    move: str = ""
    square: str = ""
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class LivePage:
    """What the page shows.

    :ivar view: the game now, as scripts get it, but without the part that the page has.
    :ivar drawn: the board as SVG, which is shown until a script draws it.
    :ivar rows: the moves, in rows of a number, White's and Black's.
    :ivar earlier: whether there are moves before those of the rows.
    :ivar bottom: the side at the bottom of the board.
    :ivar flip: whether the visitor wants Black there; None for the side that is usual.
    :ivar free: the seats that the visitor may take.
    :ivar invited: whether a seat is kept for the visitor.
    :ivar ahead: how many games a bot takes before this one; None if it is not known.
    :ivar link: the address to send to an opponent; empty if no seat is free.
    :ivar named: the seat that the visitor looks from, if it holds both.
    """

    state: GameState
    part: LivePart
    view: LiveView
    drawn: Markup
    rows: list[tuple[int, LiveMove | None, LiveMove | None]]
    earlier: bool
    bottom: Color
    flip: bool | None
    free: list[Color]
    invited: bool
    ahead: int | None
    link: str
    named: Color | None
    typed: TypedMove

    @property
    def path(self) -> str:
        """The address of the page."""
        return f"/games/{self.state.game_id}"

    @property
    def view_json(self) -> Any:
        """The view for the script."""
        return msgspec.to_builtins(self.view)

    @property
    def picture(self) -> str:
        """The address of a picture of the board, for a script that cannot draw it."""
        view = f"&view={self.named}" if self.named else ""
        return f"{self.path}.svg?size={SIZE}{view}{'&flip=1' if self.bottom == 'black' else ''}"

    @property
    def flipped(self) -> str:
        """The address of the page with the board turned."""
        black, usual = self.bottom == "white", self.view.seat == "black"
        turned = [] if black == usual else [f"flip={black:d}"]
        fields = [*turned, *([f"view={self.named}"] if self.named else [])]
        return f"{self.path}{'?' if fields else ''}{'&'.join(fields)}"

    @property
    def squares(self) -> list[str]:
        """The names of the squares, as they stand on the board from the top left."""
        names = [f"{file}{rank}" for rank in range(8, 0, -1) for file in FILES]
        return names[::-1] if self.bottom == "black" else names


async def live_page(
    visit: Visit,
    look: Look,
    *,
    flip: bool | None = None,
    named: Color | None = None,
    typed: TypedMove | None = None,
    status: int = HTTP_200_OK,
) -> Response[Any]:
    """Return the page of a game.

    :param look: as :func:`.look_live` returns it, with the moves.
    :param named: the seat that the visitor names.
    :param typed: what a form that was refused had in it.
    """
    shown = await _shown(visit, look, flip=flip, named=named, typed=typed or TypedMove())
    return page(visit, "live.html", status=status, headers={"cache-control": IN_PROGRESS["cache-control"]}, game=shown)


async def _shown(
    visit: Visit,
    look: Look,
    *,
    flip: bool | None,
    named: Color | None,
    typed: TypedMove,
) -> LivePage:
    state = look.state
    received = await _invitation(visit, look)
    free = _free(state, visit) if state.phase == "open" else []
    moves = moves_since(look, max(0, state.ply_index - MOVES))
    is_black = look.seat == chess.BLACK if flip is None else flip
    picture = run_through(picture_steps(look, state.ply_index, view=None))
    return LivePage(
        state=state,
        part=part_of(look, names_for(visit, look)),
        view=structs.replace(live_view(look, None, html=""), turns=turns_since(look, 0)),
        drawn=Markup(draw(picture, size=SIZE, flip=is_black)),
        rows=rows_of(moves),
        earlier=state.ply_index > MOVES and bool(moves),
        bottom="black" if is_black else "white",
        flip=flip,
        free=[] if received else free,
        invited=received is not None,
        ahead=games_ahead(visit, look),
        link=f"{visit.origin}/games/{state.game_id}" if free and look.seat is not None else "",
        named=named,
        typed=typed,
    )


def rows_of(moves: list[LiveMove]) -> list[tuple[int, LiveMove | None, LiveMove | None]]:
    """Return moves in rows of a number, White's move and Black's."""
    rows: dict[int, list[LiveMove | None]] = {}
    for move in moves:
        rows.setdefault(move.number, [None, None])[move.color == "black"] = move
    return [(number, white, black) for number, (white, black) in rows.items()]


def _free(state: GameState, visit: Visit) -> list[Color]:
    seats: tuple[tuple[Color, int | None], ...] = (("white", state.player_white), ("black", state.player_black))
    return [color for color, player in seats if player is None] if visit.may_act else []


async def _invitation(visit: Visit, look: Look) -> InvitationRow | None:
    """Return the invitation to the visitor to a game that has not begun."""
    if look.state.phase != "open" or look.seat is None:
        return None
    reply = await visit.ask("invitations", limit=INVITATIONS)
    row = next((row for row in reply["received"] if row["game_id"] == look.state.game_id), None)
    return None if row is None else msgspec.convert(row, InvitationRow)
