"""The answers to invitations. They need nothing of the lobby, so the game's owner takes them."""

from __future__ import annotations

from gm_protocol.errors import NotAvailable
from gmd.all_games import call_off, durably, finish, make_ready
from gmd.arbiter import Arbiter
from gmd.games.commands import Join
from gmd.games.game_note import note_of
from gmd.live_games import LiveGame

from .invitation import invitation_of


class Answers:
    """Accepting and declining invitations, and first contact in their games."""

    def __init__(self, arbiter: Arbiter) -> None:
        self._arbiter = arbiter

    async def accept(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Give a player the seat that is kept for it. After a repeated call, return the game even if it is over.

        This is no first contact of the player in the game: see :meth:`ready`.

        :param peer: the client, as host:port, which is charged for loading games; so in the methods below.
        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it.
        :raises GameIsOver: the invitation was called off.
        """
        live = await self._invited(game_id, player, peer)
        invitation = invitation_of(note_of(live.game))
        kept = [color for color in invitation.colors_of(player) if color in invitation.invited]
        for color in kept:
            decision = self._arbiter.join(live, Join(player, color), at)
            if decision.refusal is not None:
                raise decision.refusal
        return await durably(live)

    def ready(self, live: LiveGame, player: int, at: float) -> None:
        """Note a player's first contact in a game; the lobby does not show it the invitation again."""
        make_ready(self._arbiter, live, player, at)

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Note that a player has finished with an invitation that it accepted.

        :raises GmError: as :func:`gmd.all_games.finish` does.
        """
        return await finish(self._arbiter, game_id, player, at, peer)

    async def decline(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Call off a game that has not begun and that the player is invited to, or has a seat in.

        :raises GmError: as :func:`gmd.all_games.call_off` does.
        """
        return await call_off(self._arbiter, game_id, player, at, peer)

    async def _invited(self, game_id: int, player: int, peer: str) -> LiveGame:
        live = await self._arbiter.live_game(game_id, peer)
        invitation = invitation_of(note_of(live.game))
        if not any(color in invitation.invited for color in invitation.colors_of(player)):
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        return live
