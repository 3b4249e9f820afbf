"""Each bot is started once before the first game: what cannot be started at all, or plays something else, is nobody's
opponent, and games that it does not play say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import trio

from ..bot import Bot, BotFailed, Bots, BotUnusable

#: Seconds for a bot's process to be there and say what it is.
START_SECONDS = 60.0


async def try_out(bots: Iterable[tuple[str, Bots]], variant: str) -> None:
    """Start them all, and close them again.

    :param bots: each with its label.
    :raises BotUnusable: one does not start, or does not play that.
    """
    failures: list[BotUnusable] = []

    async def try_one(label: str, source: Bots) -> None:
        try:
            await (await started(source, beside)).aclose()
        except BotFailed as failure:
            failures.append(BotUnusable(f"{label}: {failure}"))
            return
        if variant not in source.variants:  # which an engine says when it is there
            plays = ", ".join(sorted(source.variants))
            failures.append(BotUnusable(f"{source.name} plays {plays}, and not {variant}"))

    async with trio.open_nursery() as beside:
        async with trio.open_nursery() as nursery:
            for label, source in bots:
                nursery.start_soon(try_one, label, source)
        beside.cancel_scope.cancel()
    if failures:
        raise failures[0]


async def started(bots: Bots, beside: trio.Nursery) -> Bot:
    """A new bot.

    :param beside: has what goes on beside it.
    :raises BotFailed: it does not start, or not in time.
    """
    try:
        with trio.fail_after(START_SECONDS):
            return await bots.start(beside)
    except trio.TooSlowError:
        raise BotFailed(f"did not start in {START_SECONDS:g} seconds", fault="stall") from None
