#!/usr/bin/env python3
"""``random_bot.py`` with the client for trio: the same bot, with the same arguments."""

from __future__ import annotations

import random
import sys

import trio
from random_bot import arguments, say, seeded

from gm_client import BadReply, ConnectionLost, GmError
from gm_client.trio_client import connect


async def main() -> None:
    """Play one game."""
    options = arguments()
    pick = seeded(options.seed) if options.seed is not None else lambda items: random.choice(items or [None])
    async with await connect(
        options.host, options.port, tls=options.tls, player=options.player, key=options.key
    ) as client:
        game_id = options.game
        if game_id is None:
            reply = await client.new_game(
                options.player,
                options.opponent,
                variant=options.variant,
                draws=None if options.variant == "rbc" else "automatic",
            )
            game_id = reply["game_id"]
        elif (await client.state(game_id, brief=True))["state"]["phase"] == "open":
            await client.join(game_id)  # takes an open seat, or the one that the player is invited to
        say(f"game {game_id}")
        async for turn in client.turns(game_id, brief=True):
            if turn.sense_actions:
                await turn.sense(pick(turn.sense_actions))
            await turn.move(pick(turn.move_actions))  # None passes
        state = (await client.state(game_id, brief=True))["state"]
        say(f"{state['result']} {state['termination']}")


if __name__ == "__main__":
    try:
        trio.run(main)
    except (ConnectionLost, GmError, BadReply) as error:
        sys.exit(f"random_bot: {error}")
