"""Games between two registered players before they begin: offers, which are not created yet, and invitations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import chess
from msgspec import Struct, field

from gm_protocol.endings import Cause
from gm_protocol.messages import GameOptions, NewGame
from gm_protocol.state import COLOR_NAMES
from gmd.event_log.interface import TokenUse
from gmd.event_log.utc import write_now
from gmd.games.events import AnyEvent, Created
from gmd.games.game import Game
from gmd.games.game_note import GameNote
from gmd.games.variants import make_game, resolve
from gmd.players.account import is_registered

#: The status of an invitation. Pending: an answer is missing. Accepted: all have accepted, and the game is live.
#: Finished: the game is over, or was resigned before it began.
Status = Literal["pending", "accepted", "finished", "declined", "withdrawn", "expired"]

#: The status of an invitation that was called off; those of all other ended games are finished.
CALLED_OFF_STATUS: Mapping[Cause, Status] = {
    Cause.DECLINED: "declined",
    Cause.WITHDRAWN: "withdrawn",
    Cause.EXPIRED: "expired",
}


#: The inviter of all invitations that open ids have made: anybody may use an open id.
ANYBODY = 0


class Invitation(Struct, frozen=True, kw_only=True):
    """A game with seats that were kept for registered players.

    :ivar game_id: the id of the game and the invitation.
    :ivar white: the player of White's seat, or for whom it is kept; None if it is open to anybody. So is ``black``.
    :ivar invited: the seats that were kept when the game was created.
    :ivar taken: the seats that are taken.
    :ivar created: the time of creation, in UTC.
    :ivar lapses: the seconds after which it expires if it has not begun; None where none were set.
    :ivar inviter: as :func:`inviter_of` returns it.
    """

    game_id: int
    white: int | None
    black: int | None
    invited: tuple[chess.Color, ...]
    taken: tuple[chess.Color, ...]
    status: Status
    options: GameOptions
    ranked: bool
    created: str
    lapses: float | None
    inviter: int | None = None

    def player_of(self, color: chess.Color) -> int | None:
        """Return the player who has a seat, or for whom it is kept."""
        return self.white if color else self.black

    def colors_of(self, player: int) -> list[chess.Color]:
        """Return the seats that a player has or is invited to."""
        return [color for color in chess.COLORS if self.player_of(color) == player]

    def awaits(self, player: int) -> bool:
        """Return whether a player is invited and has not answered."""
        return self.status == "pending" and any(
            color in self.invited and color not in self.taken for color in self.colors_of(player)
        )

    def seats(self, player: int) -> bool:
        """Return whether a player has a seat already."""
        return any(color in self.taken for color in self.colors_of(player))

    def opponent_of(self, player: int, *, seated: bool) -> int | None:
        """Return a player's opponent; None if anybody may take the other seat.

        :param seated: whether the player's seat is taken already.
        """
        mine = [color for color in self.colors_of(player) if (color in self.taken) is seated]
        return self.player_of(not mine[0])

    def accepted_by(self, player: int) -> bool:
        """Return whether a player was invited and has taken its seat."""
        return any(color in self.invited and color in self.taken for color in self.colors_of(player))


def invitation_of(game: GameNote) -> Invitation:
    """Return a game as an invitation."""
    created = game.created
    black, white = game.named
    return Invitation(
        game_id=game.id,
        white=white,
        black=black,
        invited=tuple(created.invited_sides),
        taken=tuple(seat for seat in chess.COLORS if game.players[seat] is not None),
        status=status_of(game),
        options=game.options,
        ranked=created.ranked,
        created=created.created,
        lapses=created.lapses,
        inviter=inviter_of(created),
    )


def inviter_of(created: Created) -> int | None:
    """Return a game's inviter: a registered player, or :data:`ANYBODY`; None for the server and its operator."""
    inviter = created.asked_by
    if inviter is None and chess.WHITE not in created.invited_sides:
        inviter = created.player_white
    if inviter is None and chess.BLACK not in created.invited_sides:
        inviter = created.player_black
    return inviter if inviter is None or is_registered(inviter) else ANYBODY


def counts_in_hand(created: Created) -> bool:
    """Return whether a game that has not begun counts towards its players' limits of games.

    One made by ``new_game`` does not: anybody may make those, and they would lock out players who do not answer.
    """
    return created.lapses is not None and created.asked_by is None


def status_of(game: GameNote) -> Status:
    """Return the status of a game's invitation."""
    if (ending := game.ending) is not None:
        return CALLED_OFF_STATUS.get(ending.cause, "finished")
    return "accepted" if game.begun else "pending"


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
