"""The tournament's requests to the daemon, through the operator's socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gm_client.blocking import VERSION, GmError, PairReply, PlayerRow
from gm_client.trio_client import Client
from gmd.net.listening import SOCKET_NAME, short_path

from .plan import Entrant, GameResult, Key, Settings, terms_of

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
