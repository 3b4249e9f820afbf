"""Starts each bot once before the first game: a bot that cannot be started, or plays another variant, makes a match
meaningless.
"""

from __future__ import annotations

from collections.abc import Iterable

import trio

from ..bot import Bot, BotFailed, Bots, BotUnusable

#: Seconds for a bot's process to start and identify itself.
START_SECONDS = 60.0


async def try_out(bots: Iterable[tuple[str, Bots]], variant: str) -> None:
    """Start all bots, and close them again.

    :param bots: each with its label.
    :raises BotUnusable: a bot does not start, or does not play the variant.
    """
    failures: list[BotUnusable] = []

    async def try_one(label: str, source: Bots) -> None:
        try:
            await (await started(source, background)).aclose()
        except BotFailed as failure:
            failures.append(BotUnusable(f"{label}: {failure}"))
            return
        if variant not in source.variants:  # an engine's variants are known once it has started
            plays = ", ".join(sorted(source.variants))
            failures.append(BotUnusable(f"{source.name} plays {plays}, and not {variant}"))

    async with trio.open_nursery() as background:
        async with trio.open_nursery() as nursery:
            for label, source in bots:
                nursery.start_soon(try_one, label, source)
        background.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def started(bots: Bots, background: trio.Nursery) -> Bot:
    """Return a new bot.

    :param background: runs the bot's background tasks.
    :raises BotFailed: the bot does not start, or not in time.
    """
    try:
        with trio.fail_after(START_SECONDS):
            return await bots.start(background)
    except trio.TooSlowError:
        raise BotFailed(f"did not start in {START_SECONDS:g} seconds", fault="stall") from None
