"""The answers to invitations, and what else ends their wait."""

from __future__ import annotations

from gm_protocol.errors import NotAvailable
from gmd import loop_time
from gmd.arbiter import Arbiter
from gmd.games.commands import CallOff, Join
from gmd.games.game_note import GameNote, note_of
from gmd.live_games import LiveGame

from .invitation import invitation_of


class Answers:
    """Accepting and declining invitations, first contact in their games, and the end of those without an answer."""

    def __init__(self, arbiter: Arbiter) -> None:
        self._arbiter = arbiter

    async def look(self, game_id: int, peer: str = "") -> GameNote:
        """Return a game as it is now.

        :param peer: the client, as host:port, which is charged for loading games; so in the methods below.
        :raises NoSuchGame: there is no such game.
        """
        live = await self._arbiter.live_game(game_id, peer)
        return note_of(live.game)

    async def accept(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Give a player the seat that is kept for it. After a repeated call, return the game even if it is over.

        This is no first contact of the player in the game: see :meth:`ready`.

        :param at: the time of the request's arrival, in the loop's time; so in the methods below.
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
        self._arbiter.note_contact(live, player, at)
        if live.game.created.invited:
            self._arbiter.feed.ready(note_of(live.game), player)

    async def finish(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Note that a player has finished with an invitation that it accepted; return when that is durable.

        If the game is live, this counts as the player's first contact, and its clock runs.

        :raises NoSuchGame: there is no such game.
        :raises NotAvailable: the player is not invited to it, or has not accepted.
        """
        live = await self._arbiter.live_game(game_id, peer)
        game = live.game
        invited = [side for side in game.created.invited_sides if game.named[side] == player]
        if not invited:
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        if not any(game.players[side] == player for side in invited):
            raise NotAvailable(f"game_id: player {player} has not accepted the invitation to game {game_id}")
        if not game.over:
            self.ready(live, player, at)
        return await durably(live)

    async def decline(self, game_id: int, player: int, at: float, peer: str = "") -> LiveGame:
        """Call off a game that has not begun and that a player is invited to, or has a seat in; durably.

        :raises NoSuchGame: there is no such game.
        :raises NotAPlayer: the player is neither invited to it nor seated in it.
        :raises NotAvailable: the game has begun.
        :raises GameIsOver: the game has ended in another way.
        """
        live = await self._arbiter.live_game(game_id, peer)
        decision = self._arbiter.act(live, CallOff(player), at)
        if decision.refusal is not None:
            raise decision.refusal
        if decision.events:
            self._arbiter.feed.called_off(note_of(live.game), player)
        return await durably(live)

    async def expire(self, game_id: int) -> None:
        """Call off a game that has not begun, as if its time were up; return when that is durable.

        :raises GmError: the log failed.
        """
        live = await self._arbiter.live_game(game_id)
        self._arbiter.act(live, CallOff(None), loop_time.now())
        await durably(live)

    async def _invited(self, game_id: int, player: int, peer: str) -> LiveGame:
        live = await self._arbiter.live_game(game_id, peer)
        invitation = invitation_of(note_of(live.game))
        if not any(color in invitation.invited for color in invitation.colors_of(player)):
            raise NotAvailable(f"game_id: player {player} is not invited to game {game_id}")
        return live


async def durably(live: LiveGame) -> LiveGame:
    """Return a game once its events so far are durable.

    :raises GmError: the log failed, and the latest events are undone.
    """
    if live.commit is not None:
        await live.commit.wait()
    return live
