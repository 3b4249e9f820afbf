"""Offers: games between two registered players, before they are created."""

from __future__ import annotations

import chess
from msgspec import Struct, field

from gm_protocol.messages import NewGame
from gm_protocol.state import COLOR_NAMES
from gmd.event_log.interface import TokenUse
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.setup import resolve
from gmd.games.variants import make_game
from gmd.utc import write_now


def terms(**fields: object) -> NewGame:
    """Return a game's options as a ``new_game`` without players.

    The default is the game of reconchess's server: blind chess, 15 minutes and 5 seconds a move.
    """
    return NewGame(player_white=None, player_black=None, **({"variant": "rbc"} | fields))  # type: ignore[arg-type]


class Offer(Struct, frozen=True):
    """A game for two players.

    :ivar by: the player who makes the offer, and so has its seat at once; None for the server, which invites both.
    :ivar terms: the game's options, in the fields of ``new_game`` other than the players.
    :ivar ranked: whether it counts for the players' ratings.
    :ivar token: identifies a repeated request; None for none.
    """

    white: int
    black: int
    by: int | None = None
    terms: NewGame = field(default_factory=terms)
    ranked: bool = False
    token: TokenUse | None = None

    @property
    def invited(self) -> list[chess.Color]:
        """The seats that will be kept for their players."""
        seats = ((chess.WHITE, self.white), (chess.BLACK, self.black))
        return [seat for seat, player in seats if player != self.by]


def make(
    offer: Offer, drawn: int, lapses: float, versions: tuple[int, int], max_plies: int
) -> tuple[Game, list[AnyEvent]]:
    """Build the game and its first events, which are applied; it is not in the log yet.

    :param drawn: the Chess960 start number, if the terms name none.
    :param lapses: the seconds after which it expires if it has not begun.
    :param versions: the present versions of White's and Black's bots.
    :param max_plies: after how many plies the game is drawn.
    :raises gm_protocol.errors.GmError: the terms contradict each other, or cannot be played.
    """
    created = Created(
        player_white=offer.white,
        player_black=offer.black,
        options=resolve(offer.terms, {}, drawn, strict=True),
        created=write_now(),
        invited=[COLOR_NAMES[seat] for seat in offer.invited],
        lapses=lapses,
        ranked=offer.ranked,
        versions=versions if offer.ranked else (0, 0),
        max_plies=max_plies,
    )
    return make_game(created), [created]
