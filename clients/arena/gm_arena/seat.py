"""Plays one seat of one game with one bot, from beginning to end, whatever the bot does."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from functools import partial

import trio

from gm_client.blocking import BadReply, ConnectionLost, GameState, GmError
from gm_client.trio_client import Client, Turn
from gm_protocol.endings import Cause, Ending

from .bot import Bot, BotFailed, Place
from .sides import player_in
from .stopping import background

logger = logging.getLogger(__name__)

#: Seconds that a bot thinks before the game is checked for its end. Most bots have moved by that time.
WATCH_SECONDS = 1.0
#: Seconds that a bot may go on thinking after the end of its game: most finish by themselves.
GRACE_SECONDS = 5.0


@dataclass
class Played:
    """The outcome of playing a seat.

    :ivar state: the game's last known state.
    :ivar failed: whether the bot failed; if the game was not over, it was resigned for that.
    """

    place: Place
    state: GameState
    failed: bool
    seconds: float


async def play_seat(client: Client, place: Place, bot: Bot) -> Played:
    """Play a seat with a bot, taking the seat if needed, and close the bot.

    :param client: a connection for this seat alone, as the player whose seat it is.
    :param place: has the players' names, except that of an opponent who has not joined yet (:func:`learn_names`).
    :raises ConnectionLost: the server has been unreachable for longer than the client's patience.
    :raises GmError: the server does not let the player play there.
    """
    began, failed = trio.current_time(), False
    seat = _Seat(client, place, bot)
    try:
        await seat.play()
    except BotFailed as failure:
        failed = True
        _log(place, str(failure), failure.details)
    except (ConnectionLost, BadReply):
        raise
    except Exception as error:
        failed = True
        _log(place, f"{type(error).__name__}: {error}", traceback.format_exc())
    finally:
        await bot.aclose()
    state = await _give_up(client, place)
    return Played(place, state, failed, trio.current_time() - began)


class _Seat:
    def __init__(self, client: Client, place: Place, bot: Bot) -> None:
        self._client, self._place, self._bot = client, place, bot
        self._begun = False

    async def play(self) -> None:
        """Play the whole game. The bot learns of it before any clock runs, if its opponent is known by that time."""
        place = self._place
        if place.opponent is not None:
            await self._begin()
        states: list[GameState] = []
        try:
            place.options = (await self._client.join(place.game_id, seat=place.seat, brief=True))["options"]
        except GmError as error:
            if error.code != "game_over":
                raise
            # It was called off after the player was invited: the player has no seat, and sees what spectators see.
            await self._end((await self._client.state(place.game_id, player=None, brief=True))["state"])
            return
        turns = self._client.turns(place.game_id, seat=place.seat, brief=True, over=states.append)
        async for turn in turns:
            if place.opponent is None:
                place.opponent = player_in(turn.state, not place.color)
                await learn_names(self._client, place)
            await self._begin()
            await self._think(turn)
        await self._end(states[-1])

    async def _end(self, state: GameState) -> None:
        await self._begin()
        await self._bot.end(state, partial(self._client.history, self._place.game_id))

    async def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            await self._bot.begin(self._place)

    async def _think(self, turn: Turn) -> None:
        """Let the bot take its turn, but not for long beyond the end of the game.

        :raises BotFailed: the bot fails to take the turn, or thinks on after the end.
        """
        async with background() as nursery:
            nursery.start_soon(self._watch, turn, nursery.cancel_scope)
            await self._bot.take_turn(turn)
            return
        raise BotFailed(f"kept thinking for {GRACE_SECONDS:g} seconds after the end of the game")

    async def _watch(self, turn: Turn, thinking: trio.CancelScope) -> None:
        """Cancel the bot's turn some time after the end of the game."""
        await trio.sleep(WATCH_SECONDS)
        ply, over = turn.ply, False
        try:
            while not over:
                state = (await self._client.wait(turn.game_id, player=None, ply=ply, brief=True))["state"]
                assert state is not None
                ply, over = state["ply_index"], state["phase"] == "over"
        except (ConnectionLost, BadReply, GmError) as error:
            logger.debug("game %d is not watched: %s", turn.game_id, error)
            return
        await trio.sleep(GRACE_SECONDS)
        thinking.cancel()


async def learn_names(client: Client, place: Place) -> None:
    """Ask the server for the players' names in a game. This does not count as contact from the player."""
    reply = await client.state(place.game_id, player=None, brief=True)
    place.names = reply.get("names", place.names)


async def _give_up(client: Client, place: Place) -> GameState:
    """Resign, unless the game is over; return its last state."""
    while True:
        state = (await client.state(place.game_id, seat=place.seat, brief=True))["state"]
        if state["phase"] == "over":
            return state
        try:
            resignation = Ending.by(Cause.RESIGNATION, place.color).termination
            ended = await client.end_game(place.game_id, resignation, seat=place.seat, ply=state["ply_index"])
            return ended["state"]
        except GmError as error:
            if error.code not in {"stale", "game_over"}:  # the opponent acted first
                raise


def _log(place: Place, message: str, details: str) -> None:
    logger.error("game %d, %s: %s", place.game_id, place.seat, message + (f"\n{details}" if details else ""))
