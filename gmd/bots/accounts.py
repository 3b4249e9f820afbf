"""The accounts of the daemon's bots: their names are registered for it alone, and only it has their keys.

The keys are made anew for each run.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from gm_protocol.errors import GmError
from gmd.event_log.directory import BOTS_TOKEN, write_private
from gmd.event_log.interface import LogUnreachable
from gmd.lobby.roster import BotKind, Roster
from gmd.logger import get_logger
from gmd.players.account import Account
from gmd.players.registry import Registry

logger = get_logger(__name__)

#: Games that a bot takes at a time: those without a place wait.
MAX_GAMES = 10_000


def stored_token(directory: Path | None) -> str | None:
    """Return the token of a data directory's bots, which proves that they are the daemon's; None if it has none.

    :raises OSError: the file cannot be read.
    """
    if directory is None:
        return None
    try:
        return (directory / BOTS_TOKEN).read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None


def read_token(directory: Path | None) -> str:
    """Return the token of a data directory's bots; a new one is stored, and readable by its owner only.

    :param directory: None where games are kept in memory.
    :raises OSError: the file cannot be read or written.
    """
    if directory is None:
        return secrets.token_urlsafe()
    if (stored := stored_token(directory)) is not None:
        return stored
    token = secrets.token_urlsafe()
    write_private(directory / BOTS_TOKEN, f"{token}\n".encode())
    return token


async def enlist(kinds: list[BotKind], registry: Registry, token: str, roster: Roster) -> None:
    """Register the bots that are not registered yet, and make all of them the roster.

    A bot whose name belongs to somebody else, or whose key was revoked, is left out.

    :raises LogUnreachable: the database cannot be reached.
    """
    found: dict[int, BotKind] = {}
    for kind in kinds:
        account = await _enlisted(kind, registry, token)
        if account is not None:
            found[account.player] = kind
    roster.replace(found)


async def _enlisted(kind: BotKind, registry: Registry, token: str) -> Account | None:
    """Return the account of a bot; None if it is left out."""
    try:
        account, _ = await registry.register(kind.name, None, token)
        if account.max_games != MAX_GAMES:
            account = await registry.set(account.player, max_games=MAX_GAMES)
    except LogUnreachable:
        raise
    except GmError as error:
        logger.warning("a bot is left out", bot=kind.name, reason=str(error))
        return None
    if account.key is None:
        logger.warning("a bot is left out", bot=kind.name, reason="its key is revoked: gmd rekey gives it another")
        return None
    return account


class Keys:
    """The keys that this run has given to the bots."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[int, tuple[str, bytes]] = {}

    async def key_of(self, account: Account) -> str:
        """Return a bot's key; another one where it has none from this run, or where somebody has replaced it."""
        key, stored = self._made.get(account.player, ("", b""))
        if stored == account.key:
            return key
        changed, new = await self._registry.rekey(account.player, None)
        assert new is not None  # only a repeated request has none
        assert changed.key is not None
        self._made[account.player] = new, changed.key
        return new
