"""Runs the games of a tournament: requests games, waits for their ends, and forfeits the games of absent players.

All its state is in the record, except since when a player is away: so a director that is killed and started again
continues where it was, and gives absent players their full time again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import trio

from ..crosstable import PLAYED
from ..schedule import Pairing
from .daemon import Daemon, Lost
from .plan import ABSENT, Entrant, GameResult, Key, Round, next_rounds
from .record import Record

#: Seconds between two polls of who is online, while players are missing: the daemon has no notification for it.
LOOK_SECONDS = 1.0
#: The most games at a time, which is the most that one ``wait`` takes.
MOST_AT_ONCE = 100
#: The reason of a game without a result because the daemon has lost it.
LOST = "lost"


class Watcher(Protocol):
    """A receiver of progress reports."""

    def begins(self, begun: Round) -> None: ...

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None: ...

    def ends(self, key: Key, pairing: Pairing, outcome: GameResult) -> None: ...

    def awaits(self, players: set[int]) -> None: ...


class Attendance:
    """The times since when missing players have been away."""

    def __init__(self, seconds: float) -> None:
        """:param seconds: how long a player may be away."""
        self._seconds = seconds
        self._since: dict[int, float] = {}

    def await_(self, players: set[int], now: float) -> None:
        """Set the players who are missing now; all others are present."""
        self._since = {player: self._since.get(player, now) for player in players}

    def absent(self, player: int, now: float) -> bool:
        """Return whether a player has been away for too long."""
        return player in self._since and now - self._since[player] >= self._seconds


class Director:
    """Plays the rest of a tournament."""

    def __init__(self, record: Record, daemon: Daemon, watcher: Watcher, at_once: int = MOST_AT_ONCE) -> None:
        """:param at_once: the most games at a time."""
        self._record = record
        self._daemon = daemon
        self._watcher = watcher
        self._at_once = at_once
        self._attendance = Attendance(record.settings.absence)
        #: Games that the daemon may have made without the record knowing.
        self._doubtful = record.asked - set(record.made) - set(record.outcomes)

    async def run(self) -> None:
        """Play to the end.

        :raises gm_client.blocking.GmError: a game cannot be played with these settings.
        :raises gm_client.blocking.ConnectionLost: the daemon has been gone for too long.
        """
        while open_games := self._open_games():
            unsent = await self._send(open_games)
            live = {key: self._record.made[key] for key in open_games if key in self._record.made}
            live = {key: game_id for key, game_id in live.items() if key not in self._record.outcomes}
            if live:
                await self._follow(live, open_games, LOOK_SECONDS if unsent else None)
            elif unsent:
                await trio.sleep(LOOK_SECONDS)

    def _open_games(self) -> dict[Key, Pairing]:
        """Return the games without a result, of rounds that have begun or can begin now."""
        record = self._record
        for begun in next_rounds(record.settings, record.rounds, record.outcomes):
            record.begin_round(begun)
            self._watcher.begins(begun)
        games = {key: pairing for begun in record.rounds for key, pairing in begun.games.items()}
        return {key: pairing for key, pairing in games.items() if key not in record.outcomes}

    # --- Sending ------------------------------------------------------------------------------------------------

    async def _send(self, open_games: Mapping[Key, Pairing]) -> bool:
        """Make the games whose players are present; return whether to try again soon, since there is room for more."""
        made = self._record.made
        unsent = {key: pairing for key, pairing in open_games.items() if key not in made}
        awaited: set[int] = set()
        if unsent and len(open_games) - len(unsent) < self._at_once:
            rooms = self._rooms(await self._daemon.here())
            awaited = await self._make_those_who_can(open_games, rooms)
        self._attendance.await_(awaited, trio.current_time())
        self._watcher.awaits(awaited)
        await self._forfeit({key: pairing for key, pairing in unsent.items() if key not in made})
        left = open_games.keys() - self._record.outcomes.keys()
        return bool(left - made.keys()) and len(left & made.keys()) < self._at_once

    async def _make_those_who_can(self, open_games: Mapping[Key, Pairing], rooms: dict[int, int]) -> set[int]:
        """Make games, in order, while there is room.

        :param rooms: how many more games each present player takes; kept current.
        :return: the missing players: away, or without room though they play no game of this tournament.
        """
        live = [pairing for key, pairing in open_games.items() if key in self._record.made]
        awaited: set[int] = set()
        for key, pairing in open_games.items():
            if key in self._record.made:
                continue
            if len(live) >= self._at_once:
                break
            missing = {player for player in pairing if not rooms.get(player)}
            if missing and key not in self._doubtful:
                playing = {player for each in live for player in each}
                awaited |= {player for player in missing if player not in playing or player not in rooms}
            elif await self._make(key, pairing):
                live.append(pairing)
                rooms |= {player: rooms.get(player, 1) - 1 for player in pairing}
        return awaited

    def _rooms(self, here: Mapping[Entrant, int]) -> dict[int, int]:
        """Return how many more games each player who is online takes."""
        numbers = {entrant.id: number for number, entrant in enumerate(self._record.settings.players)}
        return {numbers[entrant.id]: room for entrant, room in here.items() if entrant.id in numbers}

    async def _make(self, key: Key, pairing: Pairing) -> bool:
        """Make a game, or find it made already; return whether it exists now."""
        self._record.ask_for(key)
        self._doubtful.discard(key)
        game_id = await self._daemon.pair(self._record.settings, key, *pairing)
        if game_id is None:
            return False
        self._record.game_made(key, game_id)
        self._watcher.plays(key, pairing, game_id)
        return True

    async def _forfeit(self, unsent: Mapping[Key, Pairing]) -> None:
        """Forfeit the games of players who have been away for too long, unless a game can be made now."""
        for key, (white, black) in unsent.items():
            now = trio.current_time()
            gone = self._attendance.absent(white, now), self._attendance.absent(black, now)
            if any(gone) and not await self._make(key, (white, black)):
                result = "-/-" if all(gone) else "-/+" if gone[0] else "+/-"
                self._settle(key, (white, black), GameResult(result, ABSENT))

    # --- Following ----------------------------------------------------------------------------------------------

    async def _follow(self, live: Mapping[Key, int], games: Mapping[Key, Pairing], seconds: float | None) -> None:
        """Wait for a game to end, and record its result."""
        try:
            found = await self._daemon.first_over(list(live.values()), seconds)
        except Lost:
            return await self._drop_lost(live, games)
        if found is None:
            return None
        game_id, state = found
        key = next(key for key, made in live.items() if made == game_id)
        outcome = GameResult(state["result"], state["termination"])
        if outcome.result not in PLAYED:
            outcome = await self._daemon.called_off(self._record.settings, key, *games[key])
        return self._settle(key, games[key], outcome)

    async def _drop_lost(self, live: Mapping[Key, int], games: Mapping[Key, Pairing]) -> None:
        """Record games that the daemon no longer knows as lost: nobody wins them."""
        for key, game_id in live.items():
            if not await self._daemon.is_known(game_id):
                self._settle(key, games[key], GameResult("-/-", LOST))

    def _settle(self, key: Key, pairing: Pairing, outcome: GameResult) -> None:
        self._record.game_over(key, outcome)
        self._watcher.ends(key, pairing, outcome)
