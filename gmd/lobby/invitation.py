"""An invitation, as its game has it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from gm_protocol.messages import GameOptions
from gm_protocol.state import CALLED_OFF, Color
from gmd.games.game import Game, seat_name

#: Where an invitation stands. Pending: somebody has not answered. Accepted: everybody has, and the game is on.
#: Finished: it is over, or was resigned before it began.
Status = Literal["pending", "accepted", "finished", "declined", "withdrawn", "expired"]


class Invitation(Struct, frozen=True, kw_only=True):
    """A game some of whose seats were kept for registered players.

    :ivar game_id: the game's id, and so the invitation's.
    :ivar white: who is to play White; None where that seat is open to anybody. So ``black``.
    :ivar invited: the seats that were kept when the game was made.
    :ivar taken: the seats that somebody has.
    :ivar created: when it was made, in UTC.
    :ivar lapses: the seconds it was given to begin in; None for ever.
    """

    game_id: int
    white: int | None
    black: int | None
    invited: tuple[Color, ...]
    taken: tuple[Color, ...]
    status: Status
    options: GameOptions
    ranked: bool
    created: str
    lapses: float | None

    def player_of(self, color: Color) -> int | None:
        """Who has a seat, or whom it is kept for."""
        return self.white if color == "white" else self.black

    def colors_of(self, player: int) -> list[Color]:
        """The seats that a player has or is invited to."""
        colors: tuple[Color, Color] = ("white", "black")
        return [color for color in colors if self.player_of(color) == player]

    def awaits(self, player: int) -> bool:
        """Whether the player is invited and has not answered."""
        return self.status == "pending" and any(
            color in self.invited and color not in self.taken for color in self.colors_of(player)
        )

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
        invited=tuple(created.invited),
        taken=tuple(seat_name(seat) for seat in (True, False) if game.players[seat] is not None),
        status=status_of(game),
        options=game.options,
        ranked=created.ranked,
        created=created.created,
        lapses=created.lapses,
    )


def status_of(game: Game) -> Status:
    """Where the invitation stands that a game is."""
    termination = game.now.termination
    if termination in CALLED_OFF:
        return termination  # type: ignore[return-value]  # those three are among the words
    if game.over:
        return "finished"
    return "accepted" if game.begun else "pending"
