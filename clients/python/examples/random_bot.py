#!/usr/bin/env python3
"""A bot that senses and moves at random, in reconnaissance blind chess or in any other variant the server plays.

random_bot.py --player 1 --opponent 2 --variant rbc     makes a game and plays White
random_bot.py --player 2 --game 1                       plays in an existing game

A registered player needs its key: --key KEY, or --key @FILE, or the variable GM_KEY.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gm_client import BadReply, Client, ConnectionLost, GmError, connect

T = TypeVar("T")
Pick = Callable[[list[T]], T | None]


def main() -> None:
    """Play one game."""
    options = arguments()
    pick = seeded(options.seed) if options.seed is not None else lambda items: random.choice(items or [None])
    with connect(options.host, options.port, tls=options.tls, player=options.player, key=options.key) as client:
        game_id = options.game
        if game_id is None:
            game_id = new_game(client, options)
        elif client.state(game_id, brief=True)["state"]["phase"] == "open":
            client.join(game_id)  # takes an open seat, or the one that the player is invited to
        say(f"game {game_id}")
        for turn in client.turns(game_id, brief=True):
            if turn.sense_actions:
                turn.sense(pick(turn.sense_actions))
            turn.move(pick(turn.move_actions))  # None passes
        state = client.state(game_id, brief=True)["state"]
        say(f"{state['result']} {state['termination']}")


def say(line: str) -> None:
    """Print a line in one write, so that the lines of two bots do not mix, however Python's output is buffered."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def new_game(client: Client, options: argparse.Namespace) -> int:
    """Make the game. Unless draws are automatic, a game of random moves would go on for long."""
    reply = client.new_game(
        options.player,
        options.opponent,
        variant=options.variant,
        draws=None if options.variant == "rbc" else "automatic",
        brief=True,
    )
    return reply["game_id"]


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", "--host", dest="host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7100)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--player", type=int)
    parser.add_argument("--key", type=read_key, default=os.environ.get("GM_KEY"))
    parser.add_argument("--opponent", type=int)
    parser.add_argument("--game", type=int)
    parser.add_argument("--variant", default="rbc")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    if options.player is None or (options.opponent is None) == (options.game is None):
        print("random_bot: give --player ID, and either --opponent ID or --game ID", file=sys.stderr)
        sys.exit(2)
    return options


def read_key(text: str) -> str:
    """Return a key, or the one in @FILE, which is safer: every program on the machine may read the arguments."""
    return Path(text[1:]).read_text("utf-8").strip() if text.startswith("@") else text


def seeded(seed: int) -> Pick[str]:
    """Return pseudo-random picks, the same for a seed in every language (Marsaglia's xorshift, 32 bits)."""
    x = (seed ^ 0x9E3779B9) & 0xFFFFFFFF or 1

    def pick(items: list[str]) -> str | None:
        nonlocal x
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        return items[x * len(items) >> 32] if items else None

    return pick


if __name__ == "__main__":
    try:
        main()
    except (ConnectionLost, GmError, BadReply) as error:
        sys.exit(f"random_bot: {error}")
