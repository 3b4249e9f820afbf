"""Has the games of a tournament played: sends what is due, awaits the ends, and forfeits for those who do not come.

It knows nothing that is not in the record, but since when a player is away: so one that is killed and begun again goes
on where it was, and gives those who are away their time anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import trio

from ..crosstable import PLAYED
from ..schedule import Pairing
from .daemon import Daemon, Lost
from .plan import ABSENT, Entrant, Key, Outcome, Round, next_rounds
from .record import Record

#: Seconds between two looks at who is here, while somebody is awaited: the daemon has no word to be told by.
LOOK_SECONDS = 1.0
#: As many games at a time as one ``wait`` takes.
MOST_AT_ONCE = 100
#: Why a game has no result: the daemon has lost it.
LOST = "lost"


class Watcher(Protocol):
    """Who is told how it goes on."""

    def begins(self, begun: Round) -> None: ...

    def plays(self, key: Key, pairing: Pairing, game_id: int) -> None: ...

    def ends(self, key: Key, pairing: Pairing, outcome: Outcome) -> None: ...

    def awaits(self, players: set[int]) -> None: ...


class Attendance:
    """Since when those who are awaited have been away."""

    def __init__(self, seconds: float) -> None:
        """:param seconds: for how long a player may be."""
        self._seconds = seconds
        self._since: dict[int, float] = {}

    def await_(self, players: set[int], now: float) -> None:
        """These are awaited now, and no others."""
        self._since = {player: self._since.get(player, now) for player in players}

    def absent(self, player: int, now: float) -> bool:
        """Whether a player has been away for too long."""
        return player in self._since and now - self._since[player] >= self._seconds


class Director:
    """Plays what is left of a tournament."""

    def __init__(self, record: Record, daemon: Daemon, watcher: Watcher, at_once: int = MOST_AT_ONCE) -> None:
        """:param at_once: how many games there may be at a time."""
        self._record = record
        self._daemon = daemon
        self._watcher = watcher
        self._at_once = at_once
        self._attendance = Attendance(record.settings.absence)
        #: Those that the daemon may have made without our knowing.
        self._doubtful = record.asked - set(record.made) - set(record.outcomes)

    async def run(self) -> None:
        """Play to the end.

        :raises gm_client.blocking.GmError: a game cannot be played as it is meant to be.
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
        """The games without a result, of rounds that have begun or can begin now."""
        record = self._record
        for begun in next_rounds(record.settings, record.rounds, record.outcomes):
            record.begin_round(begun)
            self._watcher.begins(begun)
        games = {key: pairing for begun in record.rounds for key, pairing in begun.games.items()}
        return {key: pairing for key, pairing in games.items() if key not in record.outcomes}

    # --- Sending ------------------------------------------------------------------------------------------------

    async def _send(self, open_games: Mapping[Key, Pairing]) -> bool:
        """Have the games made whose players can play them; whether there is room for more, which want for a player."""
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
        """Have games made, in order, as long as there may be more of them.

        :param rooms: how many more games each takes who is here; kept current.
        :return: who is missing: it is not here, or has no room though it plays in no game of this tournament.
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
        """How many games each of the players takes who is here."""
        numbers = {entrant.id: number for number, entrant in enumerate(self._record.settings.players)}
        return {numbers[entrant.id]: room for entrant, room in here.items() if entrant.id in numbers}

    async def _make(self, key: Key, pairing: Pairing) -> bool:
        """Have a game made; or find it made. Whether there is one now."""
        self._record.ask_for(key)
        self._doubtful.discard(key)
        game_id = await self._daemon.pair(self._record.settings, key, *pairing)
        if game_id is None:
            return False
        self._record.game_made(key, game_id)
        self._watcher.plays(key, pairing, game_id)
        return True

    async def _forfeit(self, unsent: Mapping[Key, Pairing]) -> None:
        """End the games of those who have been away for too long, unless there is one by now."""
        for key, (white, black) in unsent.items():
            now = trio.current_time()
            gone = self._attendance.absent(white, now), self._attendance.absent(black, now)
            if any(gone) and not await self._make(key, (white, black)):
                result = "-/-" if all(gone) else "-/+" if gone[0] else "+/-"
                self._settle(key, (white, black), Outcome(result, ABSENT))

    # --- Following ----------------------------------------------------------------------------------------------

    async def _follow(self, live: Mapping[Key, int], games: Mapping[Key, Pairing], seconds: float | None) -> None:
        """Wait for an end, and take it down."""
        try:
            found = await self._daemon.first_over(list(live.values()), seconds)
        except Lost:
            return await self._drop_lost(live, games)
        if found is None:
            return None
        game_id, state = found
        key = next(key for key, made in live.items() if made == game_id)
        outcome = Outcome(state["result"], state["termination"])
        if outcome.result not in PLAYED:
            outcome = await self._daemon.called_off(self._record.settings, key, *games[key])
        return self._settle(key, games[key], outcome)

    async def _drop_lost(self, live: Mapping[Key, int], games: Mapping[Key, Pairing]) -> None:
        """Games that the daemon knows no more have no winner, and nobody is to blame."""
        for key, game_id in live.items():
            if not await self._daemon.is_known(game_id):
                self._settle(key, games[key], Outcome("-/-", LOST))

    def _settle(self, key: Key, pairing: Pairing, outcome: Outcome) -> None:
        self._record.game_over(key, outcome)
        self._watcher.ends(key, pairing, outcome)
