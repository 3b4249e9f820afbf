"""Notes of games: what the lobby, ranked play and quotas need to know of a game, in structs that can travel.

A note has the whole state that it is about, so a repeated note changes nothing. Notes hold nothing hidden.
"""

from __future__ import annotations

from typing import Protocol

import chess
from msgspec import Struct

from gm_protocol.endings import Ending
from gm_protocol.messages import GameOptions

from .events import Created
from .game import Game

#: A value for each side: Black's, then White's, as chess.BLACK is 0.
Sides = tuple[int | None, int | None]


class Turning(Protocol):
    """The data that decide which player a game is shown to next; a game has them, and so have its notes."""

    @property
    def id(self) -> int: ...
    @property
    def named(self) -> Sides: ...
    @property
    def players(self) -> Sides: ...
    @property
    def turn(self) -> chess.Color: ...
    @property
    def begun(self) -> bool: ...
    @property
    def over(self) -> bool: ...

    def waits_unbegun(self, player: int | None) -> bool:
        """Return whether a game that never began waits for a player."""


class TurnNote(Struct, frozen=True, array_like=True, gc=False):
    """A game whose turn has changed.

    :ivar version: grows with each change of the game: of two notes of a game, the one with the higher version is later.
    :ivar named: the players that the seats are for, by colour; None: anybody.
    :ivar players: those who have taken them.
    """

    id: int
    version: int
    named: Sides
    players: Sides
    turn: chess.Color
    over: bool

    @property
    def begun(self) -> bool:
        """Whether both seats are taken."""
        return None not in self.players

    def waits_unbegun(self, player: int | None) -> bool:
        """Return whether a game that never began waits for a player: to join, or if it is over, to be shown that."""
        return waits_unbegun(self, player)


class GameNote(TurnNote, frozen=True, array_like=True, gc=False):
    """A game that was created, joined or ended.

    :ivar ply: how many moves were made.
    :ivar ending: how it ended; None if it is not over.
    :ivar contacted: whether the seats have made first contact, by colour.
    """

    created: Created
    ply: int
    ending: Ending | None
    contacted: tuple[bool, bool]

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


def waits_unbegun(game: Turning, player: int | None) -> bool:
    """Return whether a game that never began waits for a player: to join, or if it is over, to be shown that."""
    if game.over:
        return player in game.players
    return any(named == player != seated for named, seated in zip(game.named, game.players, strict=True))


def note_of(game: Game, version: int = 0) -> GameNote:
    """Return the note of a game as it is now.

    :param version: the number of its events; 0 where notes are not compared.
    """
    black, white = game.contacted
    seats = game.named, game.players, game.turn, game.over
    return GameNote(game.id, version, *seats, game.created, game.now.ply, game.now.ending, (black, white))


def turn_note_of(game: Game, version: int) -> TurnNote:
    """Return the note of a game's turn as it is now."""
    return TurnNote(game.id, version, game.named, game.players, game.turn, game.over)
