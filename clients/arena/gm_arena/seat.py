"""One bot, one seat, one game: from its beginning to its end, whatever the bot does."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from functools import partial

import trio

from gm_client.blocking import BadReply, ConnectionLost, GameState, GmError
from gm_client.trio_client import Client, Turn
from gm_protocol.endings import Cause

from .bot import Bot, BotFailed, Place
from .endings import loss

logger = logging.getLogger(__name__)

#: Seconds that a bot thinks before it is looked whether the game has ended meanwhile. Most have moved by then.
WATCH_SECONDS = 1.0
#: Seconds that a bot may go on thinking after the end of its game: most will be done by themselves.
GRACE_SECONDS = 5.0


@dataclass
class Played:
    """What came of a seat.

    :ivar state: the game's last that was seen.
    :ivar failed: whether the bot failed; where the game was not over, it was given up for that.
    """

    place: Place
    state: GameState
    failed: bool
    seconds: float


async def play_seat(client: Client, place: Place, bot: Bot) -> Played:
    """Let a bot play a seat, which is taken if need be, and close the bot.

    :param client: a connection for this alone, whose player the seat is for.
    :param place: knows what the players are called, except an opponent who is not there yet (:func:`learn_names`).
    :raises ConnectionLost: the server is gone, for longer than the client has patience.
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
        """The whole game, which the bot knows of before any clock runs, if its opponent is known by then."""
        place = self._place
        if place.opponent is not None:
            await self._begin()
        joined = await self._client.join(place.game_id, seat=place.color, brief=True)
        place.options = joined["options"]
        states: list[GameState] = []
        turns = self._client.turns(place.game_id, seat=place.color, brief=True, over=states.append)
        async for turn in turns:
            if place.opponent is None:
                place.opponent = turn.state["player_black" if place.color == "white" else "player_white"]
                await learn_names(self._client, place)
            await self._begin()
            await self._think(turn)
        await self._begin()
        await self._bot.end(states[-1], partial(self._client.history, place.game_id))

    async def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            await self._bot.begin(self._place)

    async def _think(self, turn: Turn) -> None:
        """Let the bot take its turn; but not for long beyond the end of the game.

        :raises BotFailed: it does not, or thinks on.
        """
        failure: Exception | None = BotFailed(f"thought on for {GRACE_SECONDS:g} seconds after the end of the game")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, turn, nursery.cancel_scope)
            try:
                await self._bot.take_turn(turn)
                failure = None
            except Exception as error:  # carried past the nursery, which would make a group of it
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _watch(self, turn: Turn, thinking: trio.CancelScope) -> None:
        """Cancel the thinking some time after the end of the game."""
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
    """Ask the server what the players of a game are called. This does not count as hearing from the player."""
    place.names = (await client.state(place.game_id, player=None, brief=True)).get("names", {})


async def _give_up(client: Client, place: Place) -> GameState:
    """Resign, unless the game is over; its last state."""
    while True:
        state = (await client.state(place.game_id, seat=place.color, brief=True))["state"]
        if state["phase"] == "over":
            return state
        try:
            resignation = loss(Cause.RESIGNATION, place.color).termination
            ended = await client.end_game(place.game_id, resignation, seat=place.color, ply=state["ply_index"])
            return ended["state"]
        except GmError as error:
            if error.code not in {"stale", "game_over"}:  # the opponent has been quicker
                raise


def _log(place: Place, message: str, details: str) -> None:
    logger.error("game %d, %s: %s", place.game_id, place.color, message + (f"\n{details}" if details else ""))
