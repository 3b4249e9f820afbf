"""Runs the games of a tournament: requests games, waits for their ends, and forfeits the games of absent players.

All its state is in the record, except since when a player is away: so a director that is killed and started again
continues where it was, and gives absent players their full time again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import trio

from gm_client.blocking import VERSION, GmError, PairReply, PlayerRow
from gm_client.trio_client import Client
from gmd.net.listening import SOCKET_NAME, short_path

from ..crosstable import PLAYED
from ..schedule import Pairing
from .plan import ABSENT, Entrant, GameResult, Key, Round, Settings, next_rounds, terms_of
from .record import Record

#: Error codes for a player who cannot be invited at present.
NOT_NOW = ("not_available",)


class Lost(Exception):
    """The daemon does not know a game that it made: its data were replaced, or old games were removed."""


class Daemon:
    """The operator's session, which survives restarts of the daemon.

    :ivar reports: the client for reports of the tournament.
    """

    def __init__(self, client: Client, reports: Client) -> None:
        """:param reports: another session, for reports: a request ends a wait in its own session."""
        self._client, self.reports = client, reports

    async def registered(self) -> list[Entrant]:
        """Return all registered players who have a key, oldest first."""
        return [Entrant(row["player"], row["name"]) for row in await self._players() if not row["revoked"]]

    async def here(self) -> dict[Entrant, int]:
        """Return the players who are online, oldest first, and how many more games each takes."""
        rows = await self._players(here=True)
        return {Entrant(row["player"], row["name"]): row["room"] for row in rows}

    @property
    def own_bots(self) -> set[int]:
        """The players that the daemon itself runs, who are always online."""
        return {bot["player"] for bot in self._client.bots}

    async def _players(self, **fields: Any) -> list[PlayerRow]:
        rows: list[PlayerRow] = []
        before = None
        while True:
            page = await self._client.players(before=before, **fields)
            rows += page["players"]
            before = page["before"]
            if before is None:
                return rows[::-1]

    async def pair(self, settings: Settings, key: Key, white: int, black: int) -> int | None:
        """Return the id of a tournament game, making it if needed; None if a player cannot be invited at present.

        :raises GmError: the game cannot be played with these settings.
        """
        try:
            return (await self._paired(settings, key, white, black))["game_id"]
        except GmError as error:
            if error.code in NOT_NOW:
                return None
            raise

    async def _paired(self, settings: Settings, key: Key, white: int, black: int) -> PairReply:
        """Send the request for a game. It must always be the same, or it would be refused."""
        players = settings.players
        return await self._client.pair(
            players[white].id,
            players[black].id,
            token=f"tournament {settings.id} {key}",
            ranked=settings.ranked,
            brief=True,
            **terms_of(settings, white, black),
        )

    async def first_over(self, game_ids: Sequence[int], seconds: float | None) -> tuple[int, dict[str, Any]] | None:
        """Return one of these games that is over, and its state; None if no game ends in so many seconds.

        :param seconds: None waits for as long as the daemon allows.
        :raises Lost: the daemon does not know one of the games.
        """
        most = int(self._client.limits["max_wait_games"])
        timeout = self._client.limits["max_wait_seconds"] if seconds is None else seconds
        try:
            reply = await self._client.wait(game_ids=list(game_ids[:most]), brief=True, timeout=timeout)
        except GmError as error:
            raise _lost(error) from None
        return None if reply["state"] is None else (reply["game_id"], dict(reply["state"]))

    async def is_known(self, game_id: int) -> bool:
        """Return whether the daemon knows a game."""
        try:
            await self._client.state(game_id, brief=True)
        except GmError as error:
            if error.code == "no_such_game":
                return False
            raise
        return True

    async def called_off(self, settings: Settings, key: Key, white: int, black: int) -> GameResult:
        """Return the outcome of a game called off before it began: the player who called it off forfeits it, or
        the player who did not accept in time.
        """
        reply = await self._paired(settings, key, white, black)
        reason = reply["state"]["termination"]
        if reply["called_off"] is not None:
            return GameResult("-/+" if reply["called_off"] == "white" else "+/-", reason)
        if not reply["accepted"]:
            return GameResult("-/-", reason)
        return GameResult("+/-" if reply["accepted"] == ["white"] else "-/+", reason)

    async def pgn(self, game_id: int) -> str:
        """Return the PGN of a game that is over.

        :raises Lost: the daemon does not know it.
        """
        try:
            return (await self._client.history(game_id))["pgn"]
        except GmError as error:
            raise _lost(error) from None


def _lost(error: GmError) -> Exception:
    return Lost(str(error)) if error.code == "no_such_game" else error


@asynccontextmanager
async def operator_of(directory: Path, patience: float) -> AsyncIterator[Daemon]:
    """Open the operator's session with the daemon of a data directory, which must be running at first.

    :param patience: seconds that the daemon may be unreachable later.
    :raises gm_client.blocking.ConnectionLost: no daemon runs, or it has been unreachable for longer.
    :raises OSError: there is no such directory.
    """
    with short_path(directory / SOCKET_NAME) as path:
        name = f"gmd-tournament/{VERSION}"
        async with Client(path=path, patience=patience, client=name) as client:
            await client.open()
            yield Daemon(client, Client(path=path, patience=patience, client=name))


# --- The director ------------------------------------------------------------------------------------------------


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
        for begun in next_rounds(record.settings, record.rounds):
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
