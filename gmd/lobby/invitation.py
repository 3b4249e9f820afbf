"""An invitation, as its game has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import chess
from msgspec import Struct

from gm_protocol.endings import Cause
from gm_protocol.messages import GameOptions
from gmd.games.game import Game
from gmd.players.account import is_registered

#: Where an invitation stands. Pending: somebody has not answered. Accepted: everybody has, and the game is on.
#: Finished: it is over, or was resigned before it began.
Status = Literal["pending", "accepted", "finished", "declined", "withdrawn", "expired"]

#: Where it stands once it is called off; all other games that are over are finished.
CALLED_OFF_STATUS: Mapping[Cause, Status] = {
    Cause.DECLINED: "declined",
    Cause.WITHDRAWN: "withdrawn",
    Cause.EXPIRED: "expired",
}


#: The inviter of all invitations that no registered player has asked for: an open id is anybody's.
ANYBODY = 0


class Invitation(Struct, frozen=True, kw_only=True):
    """A game some of whose seats were kept for registered players.

    :ivar game_id: the game's id, and so the invitation's.
    :ivar white: who is to play White; None where that seat is open to anybody. So ``black``.
    :ivar invited: the seats that were kept when the game was made.
    :ivar taken: the seats that somebody has.
    :ivar created: when it was made, in UTC.
    :ivar lapses: the seconds it was given to begin in; None where nothing was said of that.
    :ivar inviter: as :func:`inviter_of` has it.
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
        """Who has a seat, or whom it is kept for."""
        return self.white if color else self.black

    def colors_of(self, player: int) -> list[chess.Color]:
        """The seats that a player has or is invited to."""
        return [color for color in chess.COLORS if self.player_of(color) == player]

    def awaits(self, player: int) -> bool:
        """Whether the player is invited and has not answered."""
        return self.status == "pending" and any(
            color in self.invited and color not in self.taken for color in self.colors_of(player)
        )

    def seats(self, player: int) -> bool:
        """Whether the player has a seat already."""
        return any(color in self.taken for color in self.colors_of(player))

    def opponent_of(self, player: int, *, seated: bool) -> int | None:
        """The other one, to a player in a seat that is taken, or in one that is not; None where anybody may come."""
        mine = [color for color in self.colors_of(player) if (color in self.taken) is seated]
        return self.player_of(not mine[0])

    def accepted_by(self, player: int) -> bool:
        """Whether the player was invited and has taken its seat."""
        return any(color in self.invited and color in self.taken for color in self.colors_of(player))


def invitation_of(game: Game) -> Invitation:
    """The invitation that a game is, or was."""
    seating, created = game.seating, game.created
    return Invitation(
        game_id=game.id,
        white=seating.white,
        black=seating.black,
        invited=tuple(created.invited_sides),
        taken=tuple(seat for seat in chess.COLORS if game.players[seat] is not None),
        status=status_of(game),
        options=game.options,
        ranked=created.ranked,
        created=created.created,
        lapses=created.lapses,
        inviter=inviter_of(game),
    )


def inviter_of(game: Game) -> int | None:
    """Who has made an invitation: a registered player, or :data:`ANYBODY`; None for the server and its operator."""
    created = game.created
    inviter = created.asked_by
    if inviter is None and chess.WHITE not in created.invited_sides:
        inviter = created.player_white
    if inviter is None and chess.BLACK not in created.invited_sides:
        inviter = created.player_black
    return inviter if inviter is None or is_registered(inviter) else ANYBODY


def counts_in_hand(game: Game) -> bool:
    """Whether a game that has not begun takes up one of those that its players take at a time.

    One made by ``new_game`` does not: anybody may make that, and whoever does not answer would be shut out.
    """
    return game.created.lapses is not None and game.created.asked_by is None


def status_of(game: Game) -> Status:
    """Where the invitation stands that a game is."""
    if (ending := game.now.ending) is not None:
        return CALLED_OFF_STATUS.get(ending.cause, "finished")
    return "accepted" if game.begun else "pending"
