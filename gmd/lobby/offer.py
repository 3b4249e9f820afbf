"""What a game between two registered players is to be, before it is made."""

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
    """What is to be played, in the fields of ``new_game``; without any, what reconchess's server plays: blind chess, 15
    minutes and 5 seconds a move. Who plays it is said elsewhere.
    """
    return NewGame(player_white=None, player_black=None, **({"variant": "rbc"} | fields))  # type: ignore[arg-type]


class Offer(Struct, frozen=True):
    """A game for two players.

    :ivar by: which of them asks for it, and so has its seat at once; None where the server does, and both are invited.
    :ivar terms: what is played, by the fields of ``new_game`` other than the players.
    :ivar ranked: whether it counts for their ratings.
    :ivar token: what the request can be known by when it comes again.
    """

    white: int
    black: int
    by: int | None = None
    terms: NewGame = field(default_factory=terms)
    ranked: bool = False
    token: TokenUse | None = None

    @property
    def invited(self) -> list[chess.Color]:
        """The seats that are to be kept for their players."""
        seats = ((chess.WHITE, self.white), (chess.BLACK, self.black))
        return [seat for seat, player in seats if player != self.by]


def make(
    offer: Offer, drawn: int, lapses: float, versions: tuple[int, int], max_plies: int
) -> tuple[Game, list[AnyEvent]]:
    """The game, its events applied, and these events. Nobody else knows of it yet.

    :param drawn: the Chess960 start number, where the terms name none.
    :param lapses: the seconds in which the invited have to answer.
    :param versions: of White's and Black's bots, as they are now.
    :param max_plies: after how many plies it is drawn.
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
