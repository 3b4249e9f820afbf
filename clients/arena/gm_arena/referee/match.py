"""A match by CodinGame's rules: a turn to configure, then two games from one position with the colours swapped."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import asdict

import chess

from gm_client.blocking import VERSION

from .contestant import Contestant, Defeat
from .game import Ask, RefereedGame, Rules
from .record import HALF_POINTS, Failure, GameRecord, MatchRecord


async def play_match(
    ask: Ask,
    bots: tuple[Contestant, Contestant],
    rules: Rules,
    seed: int,
    seen: Callable[[GameRecord], None] = lambda game: None,
) -> MatchRecord:
    """Play a match and return its record.

    :param seed: the seed of random moves; the start position comes from the rules.
    :param seen: called with a game's record whenever it has changed.
    :raises NoVerdict: the match cannot be decided, through no fault of the bots.
    :raises gm_client.blocking.GmError: the daemon refuses the games.
    """
    record = MatchRecord(
        f"gmd/{VERSION}",
        seed,
        rules.start,
        rules.crazyhouse,
        rules.max_moves,
        asdict(rules.limits),
        [bot.record for bot in bots],
    )
    if await _configured(bots, rules, record):
        rng = random.Random(seed)
        for number in (1, 2):
            if not await _played(ask, number, bots, rules, rng, seen, record):
                break
    record.winner = _winner(record)
    return record


async def _configured(bots: tuple[Contestant, Contestant], rules: Rules, record: MatchRecord) -> bool:
    """Configure the bots one after the other, so that neither is disturbed by the other's start."""
    for bot in bots:
        try:
            await bot.configure(rules.limits, crazyhouse=rules.crazyhouse, max_moves=rules.max_moves)
        except Defeat as defeat:
            record.failure = Failure(bot.number, 0, 0, defeat.kind, str(defeat))
            return False
    return True


async def _played(
    ask: Ask,
    number: int,
    bots: tuple[Contestant, Contestant],
    rules: Rules,
    rng: random.Random,
    seen: Callable[[GameRecord], None],
    record: MatchRecord,
) -> bool:
    """Play a game; return whether the match may go on."""
    white, black = bots if number == 1 else bots[::-1]
    game = RefereedGame(ask, number, {chess.WHITE: white, chess.BLACK: black}, rules, rng, seen)
    record.games.append(game.record)
    try:
        await game.play()
    except Defeat as defeat:
        record.failure = Failure(game.turn.number, number, game.ply, defeat.kind, str(defeat))
        return False
    for bot, points in zip((white, black), HALF_POINTS[game.record.result], strict=True):
        bot.score += points
        record.score[bot.number - 1] = bot.score
    return True


def _winner(record: MatchRecord) -> int | None:
    """Return the bot whose opponent has failed, or the one with more points."""
    if record.failure is not None:
        return 3 - record.failure.bot
    first, second = record.score
    return None if first == second else 1 if first > second else 2
