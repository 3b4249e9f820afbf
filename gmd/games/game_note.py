"""Notes of games: what the lobby, ranked play and quotas need to know of a game.

A note has the whole state that it is about, so a repeated note changes nothing. Notes hold nothing hidden.
"""

from __future__ import annotations

import chess
from msgspec import Struct

from gm_protocol.endings import Ending
from gm_protocol.messages import GameOptions
from gmd.games.events import Created
from gmd.games.game import Game

#: A value for each side: Black's, then White's, as chess.BLACK is 0.
Sides = tuple[int | None, int | None]


class GameNote(Struct, frozen=True):
    """A game that was created, joined or ended.

    :ivar named: the players that the seats are for, by colour; None: anybody.
    :ivar players: those who have taken them.
    :ivar ply: how many moves were made.
    :ivar ending: how it ended; None if it is not over.
    :ivar contacted: whether the seats have made first contact, by colour.
    """

    id: int
    named: Sides
    players: Sides
    turn: chess.Color
    over: bool
    created: Created
    ply: int
    ending: Ending | None
    contacted: tuple[bool, bool]

    @property
    def begun(self) -> bool:
        """Whether both seats are taken."""
        return None not in self.players

    def waits_unbegun(self, player: int | None) -> bool:
        """Return whether a game that never began waits for a player: to join, or if it is over, to be shown that."""
        if self.over:
            return player in self.players
        return any(named == player != seated for named, seated in zip(self.named, self.players, strict=True))

    @property
    def options(self) -> GameOptions:
        """The game's options."""
        return self.created.options

    @property
    def lapsing(self) -> bool:
        """Whether the game is to be called off if it does not begin in time."""
        return self.created.lapses is not None and not self.begun and not self.over

    def seats(self, player: int) -> list[chess.Color]:
        """Return the seats that a player has taken."""
        return [seat for seat in chess.COLORS if self.players[seat] == player]


def note_of(game: Game) -> GameNote:
    """Return the note of a game as it is now."""
    black, white = game.contacted
    now = game.now
    return GameNote(
        id=game.id,
        named=game.named,
        players=game.players,
        turn=game.turn,
        over=game.over,
        created=game.created,
        ply=now.ply,
        ending=now.ending,
        contacted=(black, white),
    )
